import { join } from 'node:path'
import type { IDeployment, IStatefulSet } from 'kubernetes-models/apps/v1'
import type { IConfigMap, IContainer, IPodSpec, ISecret, IService } from 'kubernetes-models/v1'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildRenderer, type Chart, type Manifest, type Rendered, type Values } from './helm.ts'
import { findFaults } from './kubernetes.ts'

const ROOT = join(import.meta.dirname, '../..')
const TOKEN = 'ptn_0123456789'
const URL = 'https://postern.example.com'
const GATEWAY = { url: URL, token: { value: TOKEN } }
const SERVER = { publicHost: 'postern.example.com' }
const HOSTILE = [
  '"',
  "'; x: y",
  'a: b',
  '{{ .Values.token.value }}',
  'line\nbreak',
  '# no',
  '- [',
  '\\',
  'ä\u202e',
  'yes',
  '0640',
]

let renderer: Awaited<ReturnType<typeof buildRenderer>>
let gateway: Chart
let server: Chart
beforeAll(async () => {
  renderer = await buildRenderer()
  gateway = renderer.open(join(ROOT, 'deploy/helm/postern-gateway'))
  server = renderer.open(join(ROOT, 'deploy/helm/postern-server'))
})
afterAll(() => renderer?.remove())

/** The manifest of a kind; `findFaults` checks its shape. */
function find<M>({ manifests }: Rendered, kind: string): M {
  const found = manifests.find((manifest) => manifest.kind === kind)
  if (!found) throw new Error(`no ${kind} in ${manifests.map((each) => each.kind)}`)
  return found as M
}

const podOf = (rendered: Rendered): IPodSpec => {
  const kind = rendered.manifests.some((each) => each.kind === 'Deployment') ? 'Deployment' : 'StatefulSet'
  const { spec } = find<IDeployment | IStatefulSet>(rendered, kind)
  if (!spec?.template.spec) throw new Error(`the ${kind} has no pod`)
  return spec.template.spec
}

const EVERYTHING = {
  image: { repository: 'registry.example.com/team/postern', tag: '1.2.3', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'pull' }],
  tunDevice: true,
  podAnnotations: { 'example.com/a': 'b' },
  podLabels: { team: 'edge' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'edge', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
  fullnameOverride: 'other',
}

const CASES: readonly [string, () => Chart, Values][] = [
  ['the gateway, with defaults', () => gateway, GATEWAY],
  ['the gateway with a secret of its own', () => gateway, { url: URL, token: { existingSecret: 'mine' } }],
  [
    'the gateway with everything',
    () => gateway,
    {
      ...GATEWAY,
      ...EVERYTHING,
      fingerprint: `sha256:${'0a'.repeat(32)}`,
      publish: [
        {
          type: 'http',
          name: 'Grafana',
          domain: 'g.example.com',
          backendHost: 'grafana.monitoring',
          backendPort: 3000,
        },
        {
          type: 'tcp',
          name: 'Broker',
          backendHost: 'mosquitto.iot',
          backendPort: 1883,
          port: 32_660,
          ssl: true,
        },
      ],
    },
  ],
  [
    'the gateway with everything optional off',
    () => gateway,
    { ...GATEWAY, networkPolicy: { enabled: false }, sysctls: [] },
  ],
  ['the server, with defaults', () => server, SERVER],
  [
    'the server with everything',
    () => server,
    {
      ...SERVER,
      ...EVERYTHING,
      acmeEmail: 'ops@example.com',
      admin: { existingSecret: 'first', existingSecretKey: 'p' },
      settings: { POSTERN_LOG_LEVEL: 'debug', POSTERN_CONNECTIONS_PER_SOURCE: 100 },
      secretSettings: { POSTERN_OIDC_CLIENT_SECRET: { secret: 'provider', key: 'secret' } },
      metrics: { port: 9464, existingSecret: 'watchers', existingSecretKey: 't' },
      service: {
        annotations: { a: 'b' },
        loadBalancerIP: '203.0.113.1',
        loadBalancerSourceRanges: ['0.0.0.0/0'],
      },
      storage: { size: '10Gi', className: 'fast' },
    },
  ],
  [
    'the server with everything optional off',
    () => server,
    { ...SERVER, networkPolicy: { enabled: false }, sysctls: [] },
  ],
]

describe.each(CASES)('%s', (_, chart, values) => {
  let rendered: Rendered
  beforeAll(async () => {
    rendered = await chart().render(values)
  })

  test('is what Kubernetes knows', async () => {
    expect(rendered.manifests.length).toBeGreaterThan(1)
    expect(await findFaults(rendered.manifests)).toEqual([])
  })

  test('asks for no permission that it does not need', () => {
    const { containers, ...pod } = podOf(rendered)
    const all = [...(pod.initContainers ?? []), ...containers]
    const { hostNetwork, hostPID, hostIPC, automountServiceAccountToken } = pod
    expect({ hostNetwork, hostPID, hostIPC, automountServiceAccountToken }).toEqual({
      automountServiceAccountToken: false,
    })
    const paths = (pod.volumes ?? []).flatMap(({ hostPath }) => hostPath?.path ?? [])
    expect(paths).toEqual(values.tunDevice ? ['/dev/net/tun'] : [])
    for (const { securityContext, resources, image } of all) {
      expect(securityContext?.privileged).toBeUndefined()
      expect(securityContext?.readOnlyRootFilesystem).toBe(true)
      expect(securityContext?.capabilities?.drop).toEqual(['ALL'])
      expect(resources?.limits).toHaveProperty('memory')
      expect(image).not.toMatch(/:(latest)?$/)
    }
    expect(rightsOf(all)).toEqual(
      containers.length === 1
        ? { gateway: ['NET_ADMIN'] }
        : { edge: ['NET_ADMIN', 'NET_BIND_SERVICE'], server: [], prepare: [] },
    )
  })

  test('holds together: selectors, volumes, secrets', () => {
    const { spec } = find<IDeployment>(rendered, podKind(rendered))
    expect(spec?.template.metadata?.labels).toMatchObject(spec?.selector.matchLabels ?? { none: true })
    const pod = podOf(rendered)
    const claims = find<IStatefulSet>(rendered, podKind(rendered)).spec?.volumeClaimTemplates ?? []
    const volumes = [...(pod.volumes ?? []), ...claims.map(({ metadata }) => metadata ?? {})].map(
      ({ name }) => name,
    )
    const mounted = pod.containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name))
    expect([...new Set(mounted)].sort()).toEqual([...volumes].sort())
  })
})

const podKind = ({ manifests }: Rendered) =>
  manifests.some(({ kind }) => kind === 'Deployment') ? 'Deployment' : 'StatefulSet'

const rightsOf = (containers: readonly IContainer[]) =>
  Object.fromEntries(
    containers.map(({ name, securityContext }) => [name, securityContext?.capabilities?.add ?? []]),
  )

test('possible mistakes in a chart are found', async () => {
  const { manifests } = await gateway.render(GATEWAY)
  const spoil = async (work: (container: Record<string, unknown>, pod: IPodSpec) => void) => {
    const copy = structuredClone(manifests)
    const pod = podOf({ manifests: copy, notes: '' })
    work(pod.containers[0] as unknown as Record<string, unknown>, pod)
    return await findFaults(copy)
  }
  expect(await spoil((container) => Object.assign(container, { imagePullPolice: 'Always' }))).toHaveLength(1)
  expect(
    (await spoil((container) => Object.assign(container, { ports: [{ containerPort: 'web' }] })))[0],
  ).toMatch(/containerPort must be integer/)
  expect(await spoil((container) => delete container.name)).not.toEqual([])
  const unknown: Manifest = { apiVersion: 'apps/v1', kind: 'Deploiment', metadata: { name: 'x', labels: {} } }
  expect((await findFaults([unknown]))[0]).toBe('apps/v1 has no Deploiment')
})

describe('missing or wrong values are reported before anything is created', () => {
  test.each<[string, () => Chart, Values, RegExp]>([
    ['an address', () => gateway, { token: { value: TOKEN } }, /url is missing: give your server's address/],
    ['a token', () => gateway, { url: URL }, /access token is missing: give token.value, or/],
    ['one token of two', () => gateway, { url: URL, token: { value: 'a', existingSecret: 'b' } }, /not both/],
    [
      'an address with https',
      () => gateway,
      { ...GATEWAY, url: 'http://a.example' },
      /\/url must match pattern/,
    ],
    ['a known value', () => gateway, { ...GATEWAY, tokn: 'x' }, /must NOT have additional properties/],
    [
      'a whole service',
      () => gateway,
      { ...GATEWAY, publish: [{ type: 'http' }] },
      /\/publish\/0 must have required/,
    ],
    [
      'a fingerprint',
      () => gateway,
      { ...GATEWAY, fingerprint: 'sha256:12' },
      /\/fingerprint must match pattern/,
    ],
    ['a public host', () => server, {}, /publicHost is missing: give the name or address/],
    [
      'ports in order',
      () => server,
      { ...SERVER, ports: { from: 2000, to: 1999 } },
      /ports.from must not be above/,
    ],
    [
      'a token for metrics',
      () => server,
      { ...SERVER, metrics: { port: 9464 } },
      /metrics.existingSecret is/,
    ],
    ['not too many ports', () => server, { ...SERVER, ports: { from: 2000, to: 2100 } }, /at most 100 ports/],
    [
      'only settings',
      () => server,
      { ...SERVER, settings: { PATH: 'x' } },
      /\/settings must NOT have additional/,
    ],
  ])('%s', async (_, chart, values, words) => {
    await expect(chart().render(values)).rejects.toThrow(words)
  })
})

describe('hostile values stay values', () => {
  test.each(HOSTILE)('%j', async (text) => {
    const publish = [{ type: 'http', name: text, domain: text, backendHost: text, backendPort: 80 }]
    const rendered = await gateway.render({
      ...GATEWAY,
      publish,
      priorityClassName: text,
      podAnnotations: { a: text },
    })
    const { data } = find<IConfigMap>(rendered, 'ConfigMap')
    expect(JSON.parse(data?.['services.json'] ?? '')).toEqual(publish)
    expect(podOf(rendered).priorityClassName).toBe(text)
    const settings = { POSTERN_CONTACT_URL: text }
    const served = await server.render({ ...SERVER, acmeEmail: text, settings, podAnnotations: { a: text } })
    const environment = Object.fromEntries(
      podOf(served).containers[0]?.env?.map(({ name, value }) => [name, value]) ?? [],
    )
    expect(environment).toMatchObject({ POSTERN_ACME_EMAIL: text, POSTERN_CONTACT_URL: text })
  })
})

test('metrics are at a port of the pod alone, with a token that the edge does not have', async () => {
  const metrics = { port: 9464, existingSecret: 'watchers', existingSecretKey: 't' }
  const rendered = await server.render({ ...SERVER, metrics })
  const [own, edge] = podOf(rendered).containers
  const namesOf = (container?: IContainer) => container?.env?.map(({ name }) => name) ?? []
  expect(own?.env).toContainEqual({ name: 'POSTERN_METRICS_ADDRESS', value: '0.0.0.0:9464' })
  expect(namesOf(own)).toContain('POSTERN_METRICS_TOKEN')
  // It keeps services from the port.
  expect(namesOf(edge)).toContain('POSTERN_METRICS_ADDRESS')
  expect(namesOf(edge)).not.toContain('POSTERN_METRICS_TOKEN')
  expect(own?.ports).toEqual([{ name: 'metrics', containerPort: 9464, protocol: 'TCP' }])
  const { spec } = find<IService>(rendered, 'Service')
  expect(spec?.ports?.map(({ port }) => port)).not.toContain(9464)
  const none = podOf(await server.render(SERVER)).containers
  expect(none.flatMap(namesOf).filter((name) => name.includes('METRICS'))).toEqual([])
})

test('the token is in the secret only', async () => {
  const rendered = await gateway.render(GATEWAY)
  const { data } = find<ISecret>(rendered, 'Secret')
  expect(Buffer.from(data?.token ?? '', 'base64').toString()).toBe(TOKEN)
  const others = rendered.manifests.filter(({ kind }) => kind !== 'Secret')
  expect(JSON.stringify([others, rendered.notes])).not.toContain(TOKEN)
  const own = await gateway.render({ url: URL, token: { existingSecret: 'mine', existingSecretKey: 'key' } })
  expect(own.manifests.map(({ kind }) => kind)).not.toContain('Secret')
  const [volume] = (podOf(own).volumes ?? []).filter(({ name }) => name === 'token')
  expect(volume?.secret).toMatchObject({
    secretName: 'mine',
    items: [{ key: 'key', path: 'token' }],
    defaultMode: 0o440,
  })
})

test('the balancer has every port that the server may give, over TCP and UDP', async () => {
  const rendered = await server.render({ ...SERVER, ports: { from: 4000, to: 4002 } })
  const ports = find<IService>(rendered, 'Service').spec?.ports?.map(
    ({ port, protocol }) => `${port}/${protocol}`,
  )
  const own = [4000, 4001, 4002].flatMap((port) => [`${port}/TCP`, `${port}/UDP`])
  expect(ports).toEqual(['80/TCP', '443/TCP', '51820/UDP', ...own])
  for (const { env } of podOf(rendered).containers)
    expect(env).toContainEqual({ name: 'POSTERN_PORT_RANGE', value: '4000-4002' })
})

test('the notes say what to do next', async () => {
  const publish = [
    { type: 'http', name: 'Grafana', domain: 'g.example.com', backendHost: 'grafana', backendPort: 3000 },
  ]
  expect((await gateway.render({ ...GATEWAY, publish })).notes).toContain(
    'Grafana: g.example.com -> grafana:3000',
  )
  expect((await gateway.render(GATEWAY)).notes).toContain('choose Add Service')
  expect((await server.render(SERVER)).notes).toContain('logs home-postern-server-0 --container server')
  const admin = { existingSecret: 'first' }
  expect((await server.render({ ...SERVER, admin })).notes).toContain('the one in your secret first')
})
