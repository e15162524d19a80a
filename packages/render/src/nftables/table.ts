import { BUDGET_SETS } from './budget.ts'
import { type Chain, chainsOf, isolationOf } from './chains.ts'
import { GUEST_SETS } from './guests.ts'
import { type FirewallPlan, SET_NAMES, SET_TYPES, type SetName } from './plan.ts'
import { REFUSED_SETS } from './udp.ts'

/** A table as it is in force, as far as we compare it. */
export interface ObservedTable {
  /** `name hook priority policy`, and the comments of its rules in order; a rule without one counts as ''. */
  chains: { head: string; comments: string[] }[]
  sets: Partial<Record<SetName, string[]>>
  counters: string[]
}

/** The input of `nft -f` that makes the table match the plan, as one transaction; empty when it does. */
export function renderFirewall(plan: FirewallPlan, observed: ObservedTable | undefined): string {
  if (!observed) return renderTable(plan)
  if (!isFrameRight(plan, observed)) return renderFreshTable(plan)
  const changes = SET_NAMES.map((name) => renderSetChange(plan, name, observed.sets[name] ?? []))
  const [wanted, present] = [new Set(plan.counters), new Set(observed.counters)]
  return [
    ...[...wanted.difference(present)].map((name) => `add counter inet ${plan.table} ${name}\n`),
    ...changes,
    ...[...present.difference(wanted)].map((name) => `delete counter inet ${plan.table} ${name}\n`),
  ].join('')
}

/** Replaces a table that cannot be repaired, in one transaction. */
export function renderFreshTable(plan: FirewallPlan): string {
  return `delete table inet ${plan.table}\n${renderTable(plan)}`
}

function renderTable(plan: FirewallPlan): string {
  const sets = SET_NAMES.map((name) => {
    const elements = plan.sets[name].length > 0 ? `; elements = { ${plan.sets[name].join(', ')} }` : ''
    return `  ${kindOf(name)} ${name} { ${SET_TYPES[name]}${elements}; }\n`
  })
  const notes = Object.entries({ ...REFUSED_SETS, ...BUDGET_SETS, ...GUEST_SETS }).map(
    ([name, type]) => `  set ${name} { ${type}; }\n`,
  )
  const counters = plan.counters.map((name) => `  counter ${name} { packets 0 bytes 0; }\n`)
  const chains = chainsOf(plan).map((chain) => {
    const head = `type ${chain.type} hook ${chain.hook} priority ${chain.priority}; policy accept;`
    const rules = chain.rules.map((rule) => `    ${rule} comment "${markOf(rule)}"\n`)
    return `  chain ${chain.name} {\n    ${head}\n${rules.join('')}  }\n`
  })
  const head = [...counters, ...sets, ...notes].join('')
  return `table inet ${plan.table} {\n${head}${chains.join('')}}\n`
}

/** A hash to recognise a rule by (FNV-1a): nft prints rules in words of its own, which differ between versions. */
function markOf(rule: string): string {
  let hash = 0x811c9dc5
  for (const character of rule) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return `postern ${(hash >>> 0).toString(16).padStart(8, '0')}`
}

function kindOf(name: SetName): 'map' | 'set' {
  return SET_TYPES[name].includes(' : ') ? 'map' : 'set'
}

function isFrameRight(plan: FirewallPlan, observed: ObservedTable): boolean {
  const [wanted, found] = [chainsOf(plan).map(inWords), observed.chains.map(foundInWords)]
  return (
    wanted.sort().join('\n') === found.sort().join('\n') &&
    SET_NAMES.every((name) => observed.sets[name] !== undefined)
  )
}

function inWords(chain: Chain): string {
  return [`${chain.name} ${chain.hook} ${chain.priority} accept`, ...chain.rules.map(markOf)].join(' ')
}

function foundInWords({ head, comments }: ObservedTable['chains'][number]): string {
  return [head, ...comments].join(' ')
}

/** Whether nodes are isolated from each other and from this machine, whatever else is not as planned. */
export function isIsolating(plan: FirewallPlan, observed: ObservedTable | undefined): boolean {
  if (!observed) return false
  const found = new Set(observed.chains.map(foundInWords))
  const isRight = (name: SetName) => plan.sets[name].join() === observed.sets[name]?.join()
  return (
    isolationOf(plan).every((chain) => found.has(inWords(chain))) && isRight('tunnel4') && isRight('tunnel6')
  )
}

function renderSetChange(plan: FirewallPlan, name: SetName, present: readonly string[]): string {
  const wanted = plan.sets[name]
  const [before, after] = [new Set(present), new Set(wanted)]
  const added = wanted.filter((element) => !before.has(element))
  const removed = present.filter((element) => !after.has(element))
  const set = `inet ${plan.table} ${name}`
  return [
    removed.length > 0 ? `delete element ${set} { ${removed.join(', ')} }\n` : '',
    added.length > 0 ? `add element ${set} { ${added.join(', ')} }\n` : '',
  ].join('')
}
