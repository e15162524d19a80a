import { expect, test } from 'vitest'
import { findGuestPorts } from './guests.ts'

const OWN = [80, 443, 3000, 51_820]

test.each([
  ['the default range', { from: 32_660, to: 32_760 }, OWN, { from: 32_768, to: 51_819 }],
  ['no range', undefined, [], { from: 32_768, to: 65_535 }],
  ['a range in the middle', { from: 40_000, to: 50_000 }, OWN, { from: 51_821, to: 65_535 }],
  ['all high ports', { from: 30_000, to: 65_535 }, OWN, { from: 3001, to: 29_999 }],
  ['all ports', { from: 1, to: 65_535 }, OWN, { from: 32_768, to: 65_535 }],
])('with %s, packets of nodes leave from the widest span without a port of ours', (_, range, own, ports) => {
  expect(findGuestPorts(range, own)).toEqual(ports)
})
