import type { Domain } from '@postern/contract/domains'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import { keyOf, type Manifest, type Wanted } from './manifest.ts'
import { kindOf } from './print.ts'

/** What a server has. */
export interface Current {
  nodes: readonly Node[]
  domains: readonly Domain[]
  services: readonly Service[]
}

export type Step =
  | { act: 'create'; wanted: Wanted }
  | { act: 'update'; wanted: Wanted; row: Node | Domain | Service; changes: readonly Change[] }
  | { act: 'delete'; kind: Wanted['kind']; row: Node | Domain | Service; key: string }

export interface Change {
  field: string
  from: unknown
  to: unknown
}

export interface Plan {
  /** In the order in which they can be done. */
  steps: Step[]
  /** What the file does not have and the server keeps. */
  kept: string[]
}

// The host of a program on its own node, which is kept as none.
const ITSELF: readonly unknown[] = ['localhost', '127.0.0.1', '::1']

/** What makes the server as the file says. @throws AgentError where a name stands for several records */
export function makePlan(manifest: Manifest, current: Current, isPruning: boolean): Plan {
  const own = ownOf(current)
  const made: Step[] = []
  const unwanted: Extract<Step, { act: 'delete' }>[] = []
  for (const section of ['nodes', 'domains', 'services'] as const) {
    const wanted = manifest[section]
    if (!wanted) continue
    const rows = own[section]
    for (const one of wanted) made.push(...stepsFor(one, rows.get(keyOf(one)) ?? []))
    const named = new Set(wanted.map(keyOf))
    for (const [key, found] of rows)
      if (!named.has(key))
        for (const row of found) unwanted.push({ act: 'delete', kind: kindIn(section), row, key })
  }
  // Services before the domains and nodes that they need.
  const removed = isPruning ? unwanted.toReversed() : []
  return { steps: [...removed, ...made], kept: isPruning ? [] : unwanted.map(({ key }) => key) }
}

const kindIn = (section: keyof Manifest) => section.slice(0, -1) as Wanted['kind']

type Rows = Map<string, (Node | Domain | Service)[]>

/** Without the console, this machine's node, and what agents publish: no file manages these. */
function ownOf({ nodes, domains, services }: Current): Record<keyof Manifest, Rows> {
  const none = { node: '', type: 'http' as const }
  return {
    nodes: group(
      nodes.filter(({ isLocal }) => !isLocal),
      ({ name }) => keyOf({ kind: 'node', name, ...none }),
    ),
    domains: group(domains, ({ domain }) => keyOf({ kind: 'domain', name: domain, ...none })),
    services: group(
      services.filter(({ system, source }) => !system && source === null),
      (service) =>
        // What kind it is comes from the contract's own words.
        keyOf({
          kind: 'service',
          name: service.name,
          node: service.nodeName,
          type: kindOf(service) as Wanted['type'],
        }),
    ),
  }
}

function group<R extends Node | Domain | Service>(rows: readonly R[], key: (row: R) => string): Rows {
  const all: Rows = new Map()
  for (const row of rows) all.set(key(row), [...(all.get(key(row)) ?? []), row])
  return all
}

function stepsFor(wanted: Wanted, rows: readonly (Node | Domain | Service)[]): Step[] {
  const [row] = rows
  if (rows.length > 1)
    throw new AgentError(
      'refused',
      `${rows.length} records are called ${printable(keyOf(wanted))}: rename all but one`,
    )
  if (!row) return [{ act: 'create', wanted }]
  const changes = Object.entries(wanted.fields).flatMap(([field, to]) => {
    const from = Reflect.get(row, field)
    return isSame(field, from, to) ? [] : [{ field, from, to }]
  })
  const enabled = 'enabled' in row ? row.enabled : undefined
  if (wanted.enabled !== undefined && wanted.enabled !== enabled)
    changes.push({ field: 'enabled', from: enabled, to: wanted.enabled })
  return changes.length === 0 ? [] : [{ act: 'update', wanted, row, changes }]
}

/** Whether the server would leave a field as it is. */
function isSame(field: string, from: unknown, to: unknown): boolean {
  // The server chooses, and has chosen.
  if ((field === 'port' || field === 'address') && to === null) return true
  if (field === 'backendHost' && from === null && ITSELF.includes(to)) return true
  return JSON.stringify(from ?? []) === JSON.stringify(to ?? [])
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const

/** A line for each record, and one for each field that changes. */
export function renderPlan({ steps, kept }: Plan): string[] {
  const show = (value: unknown) => printable(JSON.stringify(value ?? null), 200)
  return [
    ...steps.flatMap((step) => [
      `${SIGNS[step.act]} ${printable(step.act === 'delete' ? step.key : keyOf(step.wanted))}`,
      ...(step.act === 'update'
        ? step.changes.map(({ field, from, to }) => `    ${field}: ${show(from)} -> ${show(to)}`)
        : []),
    ]),
    ...kept.map((key) => `  ${printable(key)} is not in the file, and stays`),
  ]
}
