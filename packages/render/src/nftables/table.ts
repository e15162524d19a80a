import { type FirewallPlan, SET_NAMES, SET_TYPES, type SetName } from './plan.ts'

/** A table as it is in force, as far as we compare it. */
export interface ObservedTable {
  /** `name hook priority policy`, and the comments of its rules in order; a rule without one counts as ''. */
  chains: { head: string; comments: string[] }[]
  sets: Partial<Record<SetName, string[]>>
}

interface Chain {
  name: string
  type: string
  hook: string
  priority: number
  rules: string[]
}

/** Before the chains of other programs (priority 0), so that what we drop costs nothing more. */
const FILTER = -10
const SOURCE_NAT = 100

/**
 * Nodes may open HTTPS at the edge and ping it, each from its own address in the tunnel, which WireGuard holds it
 * to; some may reach the internet; nothing else that comes from or goes to the tunnel passes. From the networks
 * behind a gateway comes only what answers the edge: not even the rest of a connection that began elsewhere, or an
 * accomplice outside could begin it.
 */
function chainsOf(plan: FirewallPlan): Chain[] {
  const tunnel = `"${plan.interface}"`
  const outward = `oifname != ${tunnel}`
  return [
    {
      name: 'input',
      type: 'filter',
      hook: 'input',
      priority: FILTER,
      rules: [
        `iifname != ${tunnel} accept`,
        'ct direction reply ct state established,related ip daddr @tunnel4 accept',
        'ct direction reply ct state established,related ip6 daddr @tunnel6 accept',
        'ip saddr != @tunnel4 drop',
        'ip6 saddr != @tunnel6 drop',
        'icmp type echo-request accept',
        'icmpv6 type echo-request accept',
        `tcp dport ${plan.httpsPort} accept`,
        'drop',
      ],
    },
    {
      name: 'forward',
      type: 'filter',
      hook: 'forward',
      priority: FILTER,
      rules: [
        `iifname != ${tunnel} ${outward} accept`,
        `oifname ${tunnel} tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu`,
        `iifname ${tunnel} ${outward} ip saddr @internet4 ip daddr != @private4 accept`,
        `iifname ${tunnel} ${outward} ip6 saddr @internet6 ip6 daddr != @private6 accept`,
        // Only while the node may: taking the right away also cuts what runs.
        `iifname != ${tunnel} oifname ${tunnel} ip daddr @internet4 ct state established,related accept`,
        `iifname != ${tunnel} oifname ${tunnel} ip6 daddr @internet6 ct state established,related accept`,
        'drop',
      ],
    },
    {
      name: 'postrouting',
      type: 'nat',
      hook: 'postrouting',
      priority: SOURCE_NAT,
      rules: [
        `${outward} ip saddr @internet4 ip daddr != @private4 masquerade`,
        `${outward} ip6 saddr @internet6 ip6 daddr != @private6 masquerade`,
      ],
    },
  ]
}

/** What `nft -f` shall do, as one transaction, so that the table is as planned; empty when it is. */
export function renderFirewall(plan: FirewallPlan, observed: ObservedTable | undefined): string {
  if (!observed) return renderTable(plan)
  if (!isFrameRight(plan, observed)) return renderFreshTable(plan)
  return SET_NAMES.map((name) => renderSetChange(plan, name, observed.sets[name] ?? [])).join('')
}

/** Replaces a table that cannot be mended, in one transaction. */
export function renderFreshTable(plan: FirewallPlan): string {
  return `delete table inet ${plan.table}\n${renderTable(plan)}`
}

function renderTable(plan: FirewallPlan): string {
  const sets = SET_NAMES.map((name) => {
    const elements = plan.sets[name].length > 0 ? `; elements = { ${plan.sets[name].join(', ')} }` : ''
    return `  set ${name} { ${SET_TYPES[name]}${elements}; }\n`
  })
  const chains = chainsOf(plan).map((chain) => {
    const head = `type ${chain.type} hook ${chain.hook} priority ${chain.priority}; policy accept;`
    const rules = chain.rules.map((rule) => `    ${rule} comment "${markOf(rule)}"\n`)
    return `  chain ${chain.name} {\n    ${head}\n${rules.join('')}  }\n`
  })
  return `table inet ${plan.table} {\n${sets.join('')}${chains.join('')}}\n`
}

/** How a rule is known again (FNV-1a): nft prints rules in words of its own, which differ between versions. */
function markOf(rule: string): string {
  let hash = 0x811c9dc5
  for (const character of rule) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return `postern ${(hash >>> 0).toString(16).padStart(8, '0')}`
}

function isFrameRight(plan: FirewallPlan, observed: ObservedTable): boolean {
  const wanted = chainsOf(plan).map((chain) =>
    [`${chain.name} ${chain.hook} ${chain.priority} accept`, ...chain.rules.map(markOf)].join(' '),
  )
  const found = observed.chains.map(({ head, comments }) => [head, ...comments].join(' '))
  return (
    wanted.sort().join('\n') === found.sort().join('\n') &&
    SET_NAMES.every((name) => observed.sets[name] !== undefined)
  )
}

function renderSetChange(plan: FirewallPlan, name: SetName, present: readonly string[]): string {
  const wanted = plan.sets[name]
  const added = wanted.filter((element) => !present.includes(element))
  const removed = present.filter((element) => !wanted.includes(element))
  const set = `inet ${plan.table} ${name}`
  return [
    removed.length > 0 ? `delete element ${set} { ${removed.join(', ')} }\n` : '',
    added.length > 0 ? `add element ${set} { ${added.join(', ')} }\n` : '',
  ].join('')
}
