import { DomainForm } from '@postern/contract/domains'
import { type FieldError, toFieldErrors } from '@postern/contract/errors'
import { NodeForm } from '@postern/contract/nodes'
import { HttpServiceForm } from '@postern/contract/services/http-service-form'
import { TcpServiceForm } from '@postern/contract/services/services'
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml'
import * as z from 'zod/mini'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'

/** What a file wants of one record: only the fields that it names, in the one spelling that the server keeps. */
export interface Wanted {
  kind: 'node' | 'domain' | 'service'
  /** What people call it, and what it is found by. */
  name: string
  fields: Record<string, unknown>
  /** Fields that are asked about once and not kept. */
  asked: Record<string, unknown>
  /** Undefined: as it is. */
  enabled: boolean | undefined
  /** For a service: the name of its node, and the protocol that visitors use. */
  node: string
  type: 'http' | 'tcp' | 'udp'
}

/** Undefined: the file says nothing of the kind, so that nothing of it is pruned. */
export interface Manifest {
  nodes: Wanted[] | undefined
  domains: Wanted[] | undefined
  services: Wanted[] | undefined
}

/** Fields of forms that records do not have. `ttl` counts from now, so that it means nothing in a file. */
const ASKED: ReadonlySet<string> = new Set(['skipValidation', 'confirmUsedName', 'confirmSharedCookies'])
const LEFT_OUT: ReadonlySet<string> = new Set(['ttl', 'proto'])
const MOST_FAULTS = 20

interface Reader {
  faults: string[]
  lines: LineCounter
}

/**
 * Reads a file of nodes, domains and services. What is wrong is named with its line, all at once.
 * @param name the file's, for the messages
 * @throws AgentError
 */
export function parseManifest(text: string, name: string): Manifest {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const reader: Reader = { lines, faults: [] }
  for (const { message, pos } of document.errors) fault(reader, pos[0], message)
  const root = document.contents
  const manifest: Manifest = { nodes: undefined, domains: undefined, services: undefined }
  if (reader.faults.length === 0 && isMap(root)) readRoot(reader, root, manifest)
  else if (reader.faults.length === 0 && root !== null)
    fault(reader, 0, 'The file must have nodes, domains or services at its top')
  if (reader.faults.length === 0) return manifest
  const some = reader.faults.slice(0, MOST_FAULTS).map((words) => `\n  ${printable(words, 500)}`)
  throw new AgentError('usage', `${name} is not usable:${some.join('')}`)
}

const READERS = { nodes: readNode, domains: readDomain, services: readService } as const

function readRoot(reader: Reader, root: YAMLMap, manifest: Manifest): void {
  for (const { key, value } of root.items) {
    const section = textOf(key)
    if (section !== 'nodes' && section !== 'domains' && section !== 'services')
      fault(reader, key, `${section} is not known here: nodes, domains and services are`)
    // Without records all of the kind are unwanted, which an empty list says.
    else if (!isSeq(value)) fault(reader, key, `${section} must be a list`)
    else {
      const read = READERS[section]
      const found = value.items.flatMap((item) => (isMap(item) ? read(reader, item) : noRecord(reader, item)))
      refuseTwins(reader, found)
      manifest[section] = found.map(({ wanted }) => wanted)
    }
  }
}

function noRecord(reader: Reader, item: unknown): never[] {
  fault(reader, item, 'must be a record: fields, each with a value')
  return []
}

interface Found {
  wanted: Wanted
  map: YAMLMap
}

function readNode(reader: Reader, map: YAMLMap): Found[] {
  return readRecord(reader, map, { kind: 'node', schema: NodeForm, own: ['enabled'] })
}

function readDomain(reader: Reader, map: YAMLMap): Found[] {
  return readRecord(reader, map, { kind: 'domain', schema: DomainForm, own: [] })
}

function readService(reader: Reader, map: YAMLMap): Found[] {
  const type = map.get('type') ?? 'http'
  if (type !== 'http' && type !== 'tcp' && type !== 'udp') {
    fault(reader, map.get('type', true), 'type must be http, tcp or udp')
    return []
  }
  if (typeof map.get('node') !== 'string') {
    fault(reader, map, 'A service needs its node, by name')
    return []
  }
  const own = ['enabled', 'node', 'type']
  return type === 'http'
    ? readRecord(reader, map, { kind: 'service', schema: HttpServiceForm, own, type })
    : readRecord(reader, map, { kind: 'service', schema: TcpServiceForm, own, type })
}

interface Kind {
  kind: Wanted['kind']
  schema: z.ZodMiniObject
  /** Keys that are not fields of the form. */
  own: readonly string[]
  type?: Wanted['type']
}

function readRecord(reader: Reader, map: YAMLMap, { kind, schema, own, type = 'http' }: Kind): Found[] {
  const before = reader.faults.length
  const known = new Set([...own, ...Object.keys(schema.shape).filter((field) => !LEFT_OUT.has(field))])
  for (const { key } of map.items)
    if (!known.has(textOf(key))) fault(reader, key, `${textOf(key)} is not a field of a ${kind}`)
  if (reader.faults.length > before) return []
  const { enabled, node, type: _, ...given } = map.toJSON() as Record<string, unknown>
  if (enabled !== undefined && typeof enabled !== 'boolean')
    fault(reader, map.get('enabled', true), 'enabled must be true or false')
  const form = type === 'http' ? given : { ...given, proto: type }
  const parsed = z.safeParse(schema, form)
  if (!parsed.success)
    for (const error of toFieldErrors(parsed.error.issues, form)) faultOf(reader, map, error)
  if (!parsed.success || reader.faults.length > before) return []
  // Only what the file names: the rest stays as it is.
  const named = Object.keys(given).map((field) => [field, Reflect.get(parsed.data, field)] as const)
  const wanted: Wanted = {
    kind,
    name: String(Reflect.get(parsed.data, kind === 'domain' ? 'domain' : 'name')),
    fields: Object.fromEntries(named.filter(([field]) => !ASKED.has(field))),
    asked: Object.fromEntries(named.filter(([field]) => ASKED.has(field))),
    enabled: typeof enabled === 'boolean' ? enabled : undefined,
    node: typeof node === 'string' ? node : '',
    type,
  }
  return [{ wanted, map }]
}

/** What a record is found by. */
export function keyOf({ kind, name, node, type }: Pick<Wanted, 'kind' | 'name' | 'node' | 'type'>): string {
  return kind === 'service' ? `${type} service ${name} on ${node}` : `${kind} ${name}`
}

function refuseTwins(reader: Reader, found: readonly Found[]): void {
  const seen = new Set<string>()
  for (const { wanted, map } of found) {
    const key = keyOf(wanted)
    if (seen.has(key)) fault(reader, map, `${key} is in the file twice`)
    seen.add(key)
  }
}

/** At the field's own line, or at its record's where the field is missing. */
function faultOf(reader: Reader, map: YAMLMap, { field, message }: FieldError): void {
  const path = field.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const node = path.map((_, index) => map.getIn(path.slice(0, path.length - index), true)).find(Boolean)
  fault(reader, node ?? map, `${field}: ${message}`)
}

function fault({ faults, lines }: Reader, at: unknown, words: string): void {
  const offset = typeof at === 'number' ? at : ((at as Partial<Node> | null)?.range?.[0] ?? 0)
  faults.push(`line ${lines.linePos(offset).line}: ${words}`)
}

function textOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key)
}
