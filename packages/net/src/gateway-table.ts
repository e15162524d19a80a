/** A bit of the packet mark that no known program uses; it stays until the packet leaves. */
const MARK = '0x00200000'

/** One table for each interface, so that two gateways on one machine do not interfere. */
export function gatewayTable(name: string): string {
  return `postern_agent_${name.replaceAll('-', '_')}`
}

/**
 * What a gateway lets through, for `nft`: from the tunnel only to its subnets, with the gateway's own address as
 * source; into the tunnel only answers, because forwarding makes the machine a router for its neighbours too.
 * @param subnets in their one spelling, without overlaps
 * @returns lines that mean the same on one line
 */
export function renderGatewayTable(name: string, subnets: readonly string[]): string[] {
  const table = gatewayTable(name)
  const set = (label: string, type: string, networks: string[]) => {
    const elements = networks.length > 0 ? ` elements = { ${networks.join(', ')} };` : ''
    return `  set ${label} { type ${type}; flags interval;${elements} };`
  }
  const v4 = subnets.filter((subnet) => !subnet.includes(':'))
  const v6 = subnets.filter((subnet) => subnet.includes(':'))
  return [
    `add table inet ${table};`,
    `delete table inet ${table};`,
    `table inet ${table} {`,
    set('subnets4', 'ipv4_addr', v4),
    set('subnets6', 'ipv6_addr', v6),
    '  chain forward {',
    '    type filter hook forward priority filter; policy accept;',
    `    oifname "${name}" ct state established,related accept;`,
    `    oifname "${name}" drop;`,
    `    iifname "${name}" ip daddr @subnets4 meta mark set meta mark | ${MARK} accept;`,
    `    iifname "${name}" ip6 daddr @subnets6 meta mark set meta mark | ${MARK} accept;`,
    `    iifname "${name}" drop;`,
    '  };',
    '  chain postrouting {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    `    oifname != "${name}" meta mark & ${MARK} == ${MARK} masquerade;`,
    '  };',
    '};',
  ]
}
