import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { loadConfig } from '../../core/config/load.ts'
import { itWith } from '../support/requirements.ts'
import { readText } from '../support/sources.ts'
import { startOptions } from './start-variables.ts'

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly networks?: readonly string[]
  readonly network_mode?: string
  readonly secrets?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: object
  readonly stop_grace_period?: string
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: object
  readonly networks: object
  readonly secrets: Readonly<Record<string, { readonly environment: string }>>
}

const FOLDER = 'deploy/compose'
const TEXT = readText(`${FOLDER}/compose.yaml`)
const COMPOSE = parse(TEXT) as Compose
const SERVICES = Object.entries(COMPOSE.services)
const { gateway } = COMPOSE.services as { readonly gateway: Service }

describe('the Compose file', () => {
  it('mounts files that are there, and volumes, networks and secrets that it declares', () => {
    for (const [name, { volumes = [], networks = [], secrets = [] }] of SERVICES) {
      for (const volume of volumes) {
        const [source = ''] = volume.split(':')
        if (source.startsWith('.')) expect(existsSync(join(FOLDER, source)), `${name}: ${volume}`).to.equal(true)
        else expect(COMPOSE.volumes).to.have.property(source)
      }
      for (const network of networks) expect(COMPOSE.networks).to.have.property(network)
      for (const secret of secrets) expect(COMPOSE.secrets).to.have.property(secret)
    }
    const { context, dockerfile } = gateway.build!
    expect(existsSync(join(FOLDER, context, dockerfile))).to.equal(true)
  })

  it('waits for services only by health checks that they have', () => {
    for (const { depends_on = {} } of Object.values(COMPOSE.services)) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        expect(condition).to.equal('service_healthy')
        expect(COMPOSE.services[name]).to.have.property('healthcheck')
      }
    }
  })

  it('asks for the values that .env.example lists', () => {
    const asked = [...TEXT.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
    const read = Object.values(COMPOSE.secrets).map(({ environment }) => environment)
    const listed = Array.from(readText(`${FOLDER}/.env.example`).matchAll(/^(\w+)=$/gm), ([, name]) => name!)
    expect(listed).to.have.members([...new Set([...asked, ...read])])
  })

  it('takes all capabilities from its services, and lets none get more', () => {
    for (const [name, { cap_drop, security_opt }] of SERVICES)
      expect({ cap_drop, security_opt }, name).to.deep.equal({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  })

  it('has counters with a password, which only the gateway reaches', () => {
    const reaching = SERVICES.filter(([, { networks = [] }]) => networks.includes('counters')).map(([name]) => name)
    expect(reaching).to.deep.equal(['gateway', 'valkey'])
    expect(gateway.environment!.UMG_REDIS).to.match(/^redis:\/\/:\$\{VALKEY_PASSWORD:\?.+\}@valkey:6379$/)
    expect(COMPOSE.services.valkey!.environment!.REDISCLI_AUTH).to.match(/^\$\{VALKEY_PASSWORD:\?/)
  })

  it('has images of fixed versions, and ports for this machine only', () => {
    for (const [name, { image, ports = [] }] of SERVICES) {
      if (name !== 'gateway') expect(image, name).to.match(/:v?\d/)
      for (const port of ports) expect(port).to.match(/^127\.0\.0\.1:\d+:\d+$/)
    }
  })

  it('sets variables that the gateway knows, and publishes the ports of its image', () => {
    expect(startOptions().variables).to.include.members(Object.keys(gateway.environment!))
    const exposed = /^EXPOSE (.*)$/m.exec(readText('deploy/docker/Dockerfile'))![1]!.split(' ')
    expect(gateway.ports!.map((port) => port.split(':').at(-1))).to.deep.equal(exposed)
    expect(gateway.environment!.UMG_PUBLIC_URL).to.equal(`http://${gateway.ports![0]!.split(':').slice(0, 2).join(':')}`)
    expect(gateway.environment!.UMG_CONSOLE_URL).to.equal(`http://${gateway.ports![1]!.split(':').slice(0, 2).join(':')}`)
  })

  it('gives the database no network, and its socket to the gateway', () => {
    const { hostname, pathname } = new URL(gateway.environment!.UMG_DATABASE_URL!)
    const { postgres } = COMPOSE.services as { readonly postgres: Service }
    const socket = `sockets:${decodeURIComponent(hostname)}`
    expect(postgres).to.include({ network_mode: 'none' })
    expect(gateway.volumes).to.include(socket)
    expect(postgres.volumes).to.include(socket)
    expect(pathname).to.equal(`/${postgres.environment!.POSTGRES_DB}`)
    expect(COMPOSE.services).to.have.property(gateway.environment!.UMG_REDIS!.match(/@(.+):/)![1]!)
  })

  it('has a routing table that is valid without any secret, and reads those of the folder', async () => {
    const config = await loadConfig(`${FOLDER}/gateway/routes.yaml`, {})
    expect([...config.namespaces.keys()]).to.include('sandbox')
    const mount = gateway.volumes!.find((volume) => volume.startsWith('./secrets:'))!.split(':')[1]!
    const files = Array.from(readText(`${FOLDER}/gateway/routes.yaml`).matchAll(/\$\{file:([^}]+)\}/g), ([, path]) => path!)
    expect(files).not.to.have.length(0)
    for (const file of files) expect(file.startsWith(`${mount}/`), file).to.equal(true)
  })

  itWith('promtool', 'has a configuration of Prometheus that is valid, and scrapes the gateway', async () => {
    const { prometheus } = COMPOSE.services as { readonly prometheus: Service }
    const text = readText(`${FOLDER}/prometheus.yml`)
    const [job] = parse(text).scrape_configs
    expect(job.job_name).to.equal('umg')
    const [, port] = /UMG_ADMIN_LISTEN=\S+:(\d+)/.exec(readText('deploy/docker/Dockerfile'))!
    expect(job.static_configs).to.deep.equal([{ targets: [`gateway:${port}`] }])
    expect(job.authorization.credentials_file).to.equal(`/run/secrets/${prometheus.secrets![0]}`)
    expect(prometheus.volumes).to.include('../prometheus:/etc/prometheus/rules:ro')
    const folder = await mkdtemp(join(tmpdir(), 'umg-compose-'))
    try {
      const file = join(folder, 'prometheus.yml')
      await writeFile(join(folder, 'token'), 'token')
      await writeFile(
        file,
        text
          .replace('/etc/prometheus/rules', join(process.cwd(), 'deploy/prometheus'))
          .replace('/run/secrets/metrics_token', 'token'),
      )
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' })
      expect(status, stdout + stderr).to.equal(0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('gives Grafana the data source and the dashboards where it looks for them', () => {
    const { grafana, prometheus } = COMPOSE.services as Record<'grafana' | 'prometheus', Service>
    const provisioning = 'deploy/grafana/provisioning'
    const [source] = parse(readText(`${provisioning}/datasources/prometheus.yaml`)).datasources
    expect(COMPOSE.services).to.have.property(new URL(source.url).hostname)
    expect(prometheus.networks!.some((network) => grafana.networks!.includes(network))).to.equal(true)
    const [provider] = parse(readText(`${provisioning}/dashboards/umg.yaml`)).providers
    expect(grafana.volumes).to.include(`../grafana/dashboards:${provider.options.path}:ro`)
    expect(grafana.environment!.GF_SECURITY_ADMIN_PASSWORD__FILE).to.equal(`/run/secrets/${grafana.secrets![0]}`)
  })

  it('lets the gateway drain before it is killed', () => {
    expect(Number.parseInt(gateway.stop_grace_period!, 10)).to.be.greaterThan(5 + 30)
  })
})
