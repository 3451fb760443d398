import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { loadConfig } from '../../core/config/load.ts'
import { describeWith, find } from '../support/requirements.ts'
import { readText } from '../support/sources.ts'
import { startOptions } from './start-variables.ts'

const CHART = 'deploy/helm'
/** A helm from the Go proxy knows no version of its own. */
const KUBERNETES = '1.30.0'

/** A part of an object of Kubernetes, of which each test reads other fields. */
interface Fields {
  readonly [name: string]: Fields
  readonly [index: number]: Fields
}

/** What is at a path in an object: `spec.ports.0.name`. */
function at<T = string>(object: Fields | undefined, path: string): T {
  return path.split('.').reduce<Fields | undefined>((part, name) => part?.[name], object) as T
}

function helm(...args: string[]): { readonly status: number | null; readonly output: string; readonly stdout: string } {
  const { status, stdout, stderr } = spawnSync(find('helm')!, args, { encoding: 'utf8' })
  return { status, output: stdout + stderr, stdout }
}

/** Everything that can be turned on. */
const ALL = {
  replicas: 3,
  secretVariables: ['umg'],
  secretFiles: 'umg-vendors',
  env: { UMG_PUBLIC_URL: 'https://llm.example.com' },
  autoscaling: { enabled: true, callsInFlight: 50 },
  serviceMonitor: { enabled: true, tokenSecret: { name: 'umg' }, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, docsUrl: 'https://docs.internal/umg' },
  dashboards: { enabled: true },
  serviceAccount: { create: true, annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/umg' } },
  podLabels: { team: 'search' },
}

describeWith('helm', 'the Helm chart', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-helm-'))
  })

  after(() => rm(folder, { recursive: true }))

  async function withValues(values: object): Promise<readonly string[]> {
    const file = join(folder, 'values.yaml')
    await writeFile(file, stringify(values))
    return [CHART, '--values', file, '--kube-version', KUBERNETES]
  }

  /** The objects that the chart makes of some values, by their kinds. */
  async function render(values: object = {}): Promise<Readonly<Record<string, readonly Fields[]>>> {
    const { status, output, stdout } = helm('template', 'umg', ...(await withValues(values)))
    expect(status, output).to.equal(0)
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Fields | null)
    return Object.groupBy(
      objects.filter((object) => object !== null),
      (object) => at(object, 'kind'),
    ) as Record<string, Fields[]>
  }

  for (const [title, values] of Object.entries({ 'no values': {}, 'all values': ALL })) {
    it(`satisfies helm lint with ${title}`, async () => {
      const { status, output } = helm('lint', '--strict', ...(await withValues(values)))
      expect(status, output).to.equal(0)
    })
  }

  it('refuses values that are misspelt or impossible', async () => {
    for (const values of [{ replica: 2 }, { image: { tags: 'x' } }, { replicas: 0 }, { grace: '30s' }]) {
      const { status, output } = helm('template', 'umg', ...(await withValues(values)))
      expect(status, JSON.stringify(values)).not.to.equal(0)
      expect(output).to.include("values don't meet the specifications of the schema")
    }
  })

  it('refuses several pods without a database that they share', async () => {
    const { status, output } = helm('template', 'umg', ...(await withValues({ replicas: 2 })))
    expect(status).not.to.equal(0)
    expect(output).to.include('Several pods need one database')
  })

  it('is one pod with a volume by default, which another never shares', async () => {
    const { Deployment, PersistentVolumeClaim, ...others } = await render()
    expect(at(Deployment![0], 'spec')).to.deep.include({ replicas: 1, strategy: { type: 'Recreate' } })
    expect(at(PersistentVolumeClaim![0], 'spec.accessModes')).to.deep.equal(['ReadWriteOnce'])
    expect(others).not.to.have.any.keys('PodDisruptionBudget', 'HorizontalPodAutoscaler')
  })

  it('replaces, scales and disrupts several pods one after the other', async () => {
    const { Deployment, PodDisruptionBudget, HorizontalPodAutoscaler, ...others } = await render(ALL)
    const [deployment] = Deployment!
    expect(at(deployment, 'spec.strategy.rollingUpdate')).to.deep.equal({ maxUnavailable: 0, maxSurge: 1 })
    expect(at(deployment, 'spec')).not.to.have.property('replicas')
    expect(others).not.to.have.property('PersistentVolumeClaim')
    const selector = at(deployment, 'spec.selector')
    expect(at(PodDisruptionBudget![0], 'spec')).to.deep.equal({ maxUnavailable: 1, selector })
    expect(at(HorizontalPodAutoscaler![0], 'spec.scaleTargetRef.name')).to.equal(at(deployment, 'metadata.name'))
    const metrics = at<Fields[]>(HorizontalPodAutoscaler![0], 'spec.metrics')
    expect(metrics.map((metric) => at(metric, 'type'))).to.deep.equal(['Resource', 'Pods'])
  })

  it('names the image by a digest, if there is one, beside its tag', async () => {
    const imageOf = async (image: object): Promise<string> =>
      at((await render({ image })).Deployment![0], 'spec.template.spec.containers.0.image')
    const digest = `sha256:${'0a'.repeat(32)}`
    expect(await imageOf({ repository: 'r.example/umg', tag: '1.2.3', digest })).to.equal(`r.example/umg:1.2.3@${digest}`)
    for (const wrong of ['latest', 'sha256:0a', digest.toUpperCase()])
      expect(helm('template', 'umg', ...(await withValues({ image: { digest: wrong } }))).output).to.match(/digest/)
  })

  it('runs the image as it is: its ports, its folders, variables that the gateway knows', async () => {
    const { Deployment, Service } = await render(ALL)
    const container = at<Fields>(Deployment![0], 'spec.template.spec.containers.0')
    const values = (list: string, field: string): unknown[] => at<Fields[]>(container, list).map((item) => item[field])
    const dockerfile = readText('deploy/docker/Dockerfile')
    expect(values('ports', 'containerPort').join(' ')).to.equal(/^EXPOSE (.*)$/m.exec(dockerfile)![1])
    expect(startOptions().variables).to.include.members(values('env', 'name'))
    expect(values('volumeMounts', 'mountPath')).to.deep.equal(['/etc/umg', '/data', '/tmp', '/secrets'])
    for (const path of ['UMG_ROUTES=/etc/umg/', 'UMG_DATA=/data']) expect(dockerfile).to.include(path)
    expect(at(container, 'image')).to.equal(`unified-model-gateway:${JSON.parse(readText('package.json')).version}`)
    expect(JSON.stringify(container)).not.to.include('subPath')
    expect(Service!.map((service) => at(service, 'spec.ports.0.targetPort'))).to.have.members(values('ports', 'name'))
    for (const service of Service!) expect(at(service, 'spec.ports')).to.have.length(1)
  })

  it('speaks https on both ports with a Secret of TLS: to clients, probes and Prometheus', async () => {
    const tlsConfig = { serverName: 'llm.example.com' }
    const values = { tls: { secretName: 'umg-tls' }, serviceMonitor: { enabled: true, tlsConfig } }
    const { Deployment, ServiceMonitor } = await render(values)
    const pod = at<Fields>(Deployment![0], 'spec.template.spec')
    const env = at<{ name: string; value: string }[]>(pod, 'containers.0.env')
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    expect(variables).to.include({ UMG_TLS_CERT: '/tls/tls.crt', UMG_TLS_KEY: '/tls/tls.key' })
    expect(startOptions().variables).to.include.members(['UMG_TLS_CERT', 'UMG_TLS_KEY'])
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(at(pod, `containers.0.${probe}.httpGet.scheme`)).to.equal('HTTPS')
    expect(at<Fields[]>(pod, 'containers.0.volumeMounts')).to.deep.include({ name: 'tls', mountPath: '/tls', readOnly: true })
    const volume = at<Fields[]>(pod, 'volumes').find((each) => at(each, 'name') === 'tls')
    expect(at(volume, 'secret.secretName')).to.equal('umg-tls')
    expect(at(ServiceMonitor![0], 'spec.endpoints.0')).to.deep.include({ scheme: 'https', tlsConfig })
  })

  it('takes secrets of umg start as files', async () => {
    const env = { UMG_DATABASE_URL_FILE: '/secrets/database_url' }
    const { Deployment } = await render({ replicas: 2, secretFiles: 'umg', env })
    const container = at<Fields>(Deployment![0], 'spec.template.spec.containers.0')
    expect(at<Fields[]>(container, 'env')).to.deep.include({ name: 'UMG_DATABASE_URL_FILE', value: '/secrets/database_url' })
    expect(container).not.to.have.property('envFrom')
  })

  it('gives the pods an identity in the cloud: a service account with annotations, and labels', async () => {
    const annotations = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/umg' }
    const podLabels = { 'azure.workload.identity/use': 'true' }
    const created = await render({ serviceAccount: { create: true, annotations }, podLabels })
    const [account] = created.ServiceAccount!
    expect(at(account, 'metadata')).to.deep.include({ annotations })
    expect(at(created.Deployment![0], 'spec.template.spec.serviceAccountName')).to.equal(at(account, 'metadata.name'))
    expect(at(created.Deployment![0], 'spec.template.metadata.labels')).to.include(podLabels)
    expect(at(created.Deployment![0], 'spec.selector.matchLabels')).not.to.have.any.keys(podLabels)
    const existing = await render({ serviceAccount: { name: 'ours' } })
    expect(existing).not.to.have.property('ServiceAccount')
    expect(at(existing.Deployment![0], 'spec.template.spec.serviceAccountName')).to.equal('ours')
    const standard = await render()
    expect(at(standard.Deployment![0], 'spec.template.spec')).not.to.have.property('serviceAccountName')
  })

  it('refuses annotations for a service account that it does not create', async () => {
    const { status, output } = helm('template', 'umg', ...(await withValues({ serviceAccount: { annotations: { a: 'b' } } })))
    expect(status).not.to.equal(0)
    expect(output).to.include('set serviceAccount.create')
  })

  it('mounts further volumes', async () => {
    const volume = { name: 'plugins', configMap: { name: 'our-plugins' } }
    const mount = { name: 'plugins', mountPath: '/plugins', readOnly: true }
    const { Deployment } = await render({ extraVolumes: [volume], extraVolumeMounts: [mount] })
    const pod = at<Fields>(Deployment![0], 'spec.template.spec')
    expect(at<Fields[]>(pod, 'volumes')).to.deep.include(volume)
    expect(at<Fields[]>(pod, 'containers.0.volumeMounts')).to.deep.include(mount)
  })

  it('lets a pod drain before it is killed', async () => {
    const pod = at<Fields>((await render({ drainDelay: 20, grace: 300 })).Deployment![0], 'spec.template.spec')
    const env = at<{ name: string; value: string }[]>(pod, 'containers.0.env')
    const values = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    expect(values).to.include({ UMG_DRAIN_DELAY: '20', UMG_GRACE: '300' })
    expect(at<number>(pod, 'terminationGracePeriodSeconds')).to.be.greaterThan(320)
  })

  it('gives the pod nothing: no root, no capabilities, no token, no variables of Services, a read-only root', async () => {
    const pod = at<Fields>((await render()).Deployment![0], 'spec.template.spec')
    expect(pod).to.include({ automountServiceAccountToken: false, enableServiceLinks: false })
    expect(pod.securityContext).to.include({ runAsNonRoot: true, runAsUser: 65532 })
    expect(at(pod, 'containers.0.securityContext')).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  it('opens the port of clients to all, that of operators to its namespace, and hides the metadata of the cloud', async () => {
    const [policy] = (await render()).NetworkPolicy!
    expect(at(policy, 'spec.ingress')).to.deep.equal([
      { ports: [{ port: 'http', protocol: 'TCP' }] },
      { ports: [{ port: 'operators', protocol: 'TCP' }], from: [{ podSelector: {} }] },
    ])
    expect(at(policy, 'spec.egress.1.to.0.ipBlock')).to.deep.equal({ cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] })
    const except = ['fe80::/10', 'fd00:ec2::254/128', 'fd20:ce::254/128']
    expect(at(policy, 'spec.egress.1.to.1.ipBlock')).to.deep.equal({ cidr: '::/0', except })
    const [open] = (await render({ networkPolicy: { blockedAddresses: [] } })).NetworkPolicy!
    expect(at(open, 'spec.egress.1.to.1.ipBlock')).to.deep.equal({ cidr: '::/0' })
  })

  it('bounds what a pod takes of the disk of its node', async () => {
    const volumes = async (values: object) =>
      at<readonly { readonly name: string }[]>((await render(values)).Deployment![0], 'spec.template.spec.volumes')
    const stateless = await volumes({ persistence: { enabled: false, size: '4Gi' }, tmpSize: '2Gi' })
    expect(stateless).to.deep.include.members([
      { name: 'data', emptyDir: { sizeLimit: '4Gi' } },
      { name: 'tmp', emptyDir: { sizeLimit: '2Gi' } },
    ])
    expect(await volumes({})).to.deep.include({ name: 'tmp', emptyDir: { sizeLimit: '1Gi' } })
  })

  it('has a routing table that is valid: its own, or the one of the values', async () => {
    const tableOf = async (values: object): Promise<string> =>
      at<Record<string, string>>((await render(values)).ConfigMap![0], 'data')['routes.yaml']!
    expect(await tableOf({})).to.equal(readText('deploy/routes.yaml'))
    const file = join(folder, 'routes.yaml')
    await writeFile(
      file,
      await tableOf({ routes: 'version: 1\nchain:\n  - plugin: auth\nnamespaces:\n  own: { provider: sandbox }\n' }),
    )
    expect([...(await loadConfig(file, {})).namespaces.keys()]).to.deep.equal(['own'])
  })

  it('names the runbooks of alerts by their place in this repository, without a server that has the docs', async () => {
    const { PrometheusRule } = await render({ prometheusRule: { enabled: true } })
    expect(at(PrometheusRule![0], 'spec')).to.deep.equal(parse(readText('deploy/prometheus/umg.rules.yaml')))
  })

  it('has the rules and the dashboards of this repository, and is scraped as their job', async () => {
    const { PrometheusRule, ConfigMap, ServiceMonitor, Service } = await render(ALL)
    const linked = readText('deploy/prometheus/umg.rules.yaml').replace(
      /(?<=runbook_url: )docs(?=\/)/g,
      ALL.prometheusRule.docsUrl,
    )
    expect(at(PrometheusRule![0], 'spec')).to.deep.equal(parse(linked))
    const dashboards = ConfigMap!.find((map) => at(map, 'metadata.labels.grafana_dashboard') === '1')
    const files = readdirSync('deploy/grafana/dashboards').map((file) => [file, readText(`deploy/grafana/dashboards/${file}`)])
    expect(at(dashboards, 'data')).to.deep.equal(Object.fromEntries(files))
    const monitor = at<Fields>(ServiceMonitor![0], 'spec')
    expect(at(monitor, 'endpoints.0.relabelings')).to.deep.equal([{ targetLabel: 'job', replacement: 'umg' }])
    const wanted = Object.entries(at<object>(monitor, 'selector.matchLabels'))
    const scraped = Service!.filter((service) =>
      wanted.every(([name, value]) => at<Record<string, string>>(service, 'metadata.labels')[name] === value),
    )
    expect(scraped.map((service) => at(service, 'spec.ports.0.name'))).to.deep.equal([at(monitor, 'endpoints.0.port')])
  })
})
