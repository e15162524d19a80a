import type { Offer } from './offer.ts'

const PREFIX = 'postern.'
const MAX_VALUE = 4000

/** Each label that a container may have. docs/docker.md explains them. */
const LABELS = [
  'name',
  'allowed-ips',
  'blocked-ips',
  'http.domain',
  'http.path',
  'http.port',
  'http.protocol',
  'http.strip-path',
  'tcp.port',
  'tcp.public-port',
  'tcp.domain',
  'tcp.tls',
  'udp.port',
  'udp.public-port',
] as const
type Label = (typeof LABELS)[number]

export interface Labelled {
  /** The container's; it is part of the services' keys. */
  name: string
  labels: Readonly<Record<string, string>>
  /** The TCP ports that the image exposes. */
  ports: readonly number[]
}

/** A service from its labels, still without the host that it runs on. */
export type LabelledService = Omit<Offer, 'backendHost'>

/**
 * @throws LabelError: a container with an invalid label is not published at all, because a typo in `allowed-ips`
 * could open it to everyone.
 */
export function readLabels(container: Labelled): LabelledService[] {
  const values = pickValues(container.labels)
  if (values.size === 0) return []
  const services = [readHttp(container, values), readTcp(values), readUdp(values)].filter(
    (service) => service !== undefined,
  )
  if (services.length === 0)
    throw new LabelError('add postern.http.domain, postern.tcp.port or postern.udp.port')
  const name = values.get('name') ?? container.labels['com.docker.compose.service'] ?? container.name
  return services.map((service) => ({
    key: `${container.name}/${service.type}`,
    // The type distinguishes two services of one container.
    name: services.length > 1 ? `${name} ${service.type}` : name,
    ...service,
    ...readAddresses(values),
  }))
}

export class LabelError extends Error {}

type Values = ReadonlyMap<Label, string>
type Part = Omit<LabelledService, 'key' | 'name'>

function pickValues(labels: Readonly<Record<string, string>>): Values {
  const values = new Map<Label, string>()
  for (const [label, text] of Object.entries(labels)) {
    if (!label.startsWith(PREFIX)) continue
    const known = LABELS.find((one) => one === label.slice(PREFIX.length))
    if (!known) throw new LabelError(`Unknown label ${label}. Known labels: ${nameAll()}`)
    if (text.length > MAX_VALUE) throw new LabelError(`${label} is too long`)
    if (text.trim() === '') throw new LabelError(`${label} is empty. Give it a value, or remove it`)
    values.set(known, text.trim())
  }
  return values
}

const nameAll = () => LABELS.map((label) => `${PREFIX}${label}`).join(', ')

function readHttp({ ports }: Labelled, values: Values): Part | undefined {
  if (!hasAny(values, 'http.')) return undefined
  const domain = values.get('http.domain')
  if (domain === undefined) throw new LabelError('add postern.http.domain')
  return {
    type: 'http',
    domain,
    backendPort: findPort(values, 'http.port') ?? findOnlyPort(ports),
    ...given('pathLocation', values.get('http.path')),
    ...given('backendProto', findWord(values, 'http.protocol', ['http', 'https'])),
    ...given('stripPath', findSwitch(values, 'http.strip-path')),
  }
}

function readTcp(values: Values): Part | undefined {
  if (!hasAny(values, 'tcp.')) return undefined
  return {
    type: 'tcp',
    backendPort: getPort(values, 'tcp.port'),
    ...given('port', findPort(values, 'tcp.public-port')),
    ...given('domain', values.get('tcp.domain')),
    ...given('ssl', findSwitch(values, 'tcp.tls')),
  }
}

function readUdp(values: Values): Part | undefined {
  if (!hasAny(values, 'udp.')) return undefined
  const port = findPort(values, 'udp.public-port')
  return { type: 'udp', backendPort: getPort(values, 'udp.port'), ...given('port', port) }
}

function readAddresses(values: Values) {
  const list = (label: Label) => {
    const entries = values
      .get(label)
      ?.split(',')
      .map((text) => text.trim())
    if (entries?.includes('')) throw new LabelError(`${PREFIX}${label} has an empty entry`)
    return entries
  }
  return { ...given('allowedIps', list('allowed-ips')), ...given('blockedIps', list('blocked-ips')) }
}

const hasAny = (values: Values, prefix: string) =>
  [...values.keys()].some((label) => label.startsWith(prefix))

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  // The computed key is exactly K.
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V })
}

function findPort(values: Values, label: Label): number | undefined {
  const text = values.get(label)
  if (text === undefined) return undefined
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new LabelError(`${PREFIX}${label} must be a port from 1 to 65535`)
  return port
}

function getPort(values: Values, label: Label): number {
  const port = findPort(values, label)
  if (port === undefined) throw new LabelError(`add ${PREFIX}${label}, the port inside the container`)
  return port
}

function findOnlyPort(ports: readonly number[]): number {
  const [port] = ports
  if (port !== undefined && ports.length === 1) return port
  const reason = ports.length === 0 ? 'its image exposes no port' : `its image exposes ${ports.join(', ')}`
  throw new LabelError(`add postern.http.port, the port inside the container: ${reason}`)
}

function findWord(values: Values, label: Label, words: readonly string[]): string | undefined {
  const word = values.get(label)
  if (word !== undefined && !words.includes(word))
    throw new LabelError(`${PREFIX}${label} must be ${words.join(' or ')}`)
  return word
}

function findSwitch(values: Values, label: Label): boolean | undefined {
  const word = findWord(values, label, ['true', 'false'])
  return word === undefined ? undefined : word === 'true'
}
