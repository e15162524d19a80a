import { expect, test } from 'vitest'
import { renderGatewayTable } from './gateway-table.ts'

test('the table names the subnets of each family, and leaves no line open', () => {
  const lines = renderGatewayTable('postern-node', ['192.168.7.0/24', 'fd00:7::/64'])
  expect(lines).toContain('table inet postern_agent_postern_node {')
  expect(lines).toContain(
    '  set subnets4 { type ipv4_addr; flags interval; elements = { 192.168.7.0/24 }; };',
  )
  expect(lines).toContain('  set subnets6 { type ipv6_addr; flags interval; elements = { fd00:7::/64 }; };')
  for (const line of lines) expect(line).toMatch(/[;{]$/)
  expect(renderGatewayTable('a', [])).toContain('  set subnets4 { type ipv4_addr; flags interval; };')
})
