import { expect } from 'chai'
import { Home } from '../lifecycle/umg.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'

describe('a gateway that other machines reach', () => {
  let home: Home
  beforeEach(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES })
  })
  afterEach(() => home?.remove())

  for (const workers of ['1', '2'])
    it(`says so once if there is no TLS and no token, and shows addresses that can be used (--workers ${workers})`, async () => {
      const { umg, url } = await home.start('--host', '0.0.0.0', '--workers', workers)
      const { port } = new URL(url)
      expect(url).to.equal(`http://0.0.0.0:${port}`)
      await umg.prints(new RegExp(`Base URL +http://127\\.0\\.0\\.1:${port}/v1`))
      await umg.prints(new RegExp(`Console +http://127\\.0\\.0\\.1:${port}/console`))
      expect(umg.stderr.match(/^warning: .*$/gm)).to.have.length(2)
      expect(umg.stderr).to.match(/^warning: other machines connect without TLS.* Set --tls-cert and --tls-key/m)
      expect(umg.stderr).to.match(/^warning: other machines can read \/metrics without a token\. Set UMG_METRICS_TOKEN/m)
    })

  it('warns of a password in its arguments, which other users of the machine can read', async () => {
    const database = 'postgres://umg:hidden-password@127.0.0.1:1/umg'
    const { stderr } = await home.run(['start', '--port', '0', '--database', database]).ended
    expect(stderr).to.match(
      /^warning: other users .* read the password of --database.*: set UMG_DATABASE_URL or UMG_DATABASE_URL_FILE/m,
    )
    expect(stderr).not.to.include('hidden-password')
    const { stderr: quiet } = await home.run(['start', '--port', '0'], { env: { UMG_DATABASE_URL: database } }).ended
    expect(quiet).not.to.include('warning:')
  })
})

describe('SIGUSR1', () => {
  for (const workers of ['1', '2'])
    it(`opens no inspector in any process (--workers ${workers})`, async () => {
      const home = await Home.create({ 'routes.yaml': ROUTES })
      try {
        const { umg, url } = await home.start('--workers', workers, '--drain-delay', '0')
        umg.signal('SIGUSR1')
        if (workers === '2') {
          const [, list] = await umg.prints(/"processes":\{(.*?)\}/)
          for (const [, pid] of list!.matchAll(/:(\d+)/g)) process.kill(Number(pid), 'SIGUSR1')
        }
        expect((await fetch(`${url}/livez`)).status).to.equal(200)
        umg.signal('SIGINT')
        expect((await umg.ended).stderr).not.to.match(/Debugger/)
      } finally {
        await home.remove()
      }
    })
})
