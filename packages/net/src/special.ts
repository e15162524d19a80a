import { type Cidr, overlaps, parseCidr } from './cidr.ts'

/** Networks that are never a host behind a gateway: this host, loopback, link-local, multicast, reserved. */
const NOT_A_TARGET = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/127',
  '::ffff:0:0/96',
  'fe80::/10',
  'ff00::/8',
].map(parseCidr)

/** What is not the internet: private, shared, link-local and special networks. */
export const NOT_THE_INTERNET: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/127',
  '::ffff:0:0/96',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]

/** True when a network meets loopback, link-local, multicast or reserved addresses. */
export function isSpecial(cidr: Cidr): boolean {
  return NOT_A_TARGET.some((special) => overlaps(special, cidr))
}

const PRIVATE = NOT_THE_INTERNET.map(parseCidr)

/** True when an address cannot be reached from the internet. */
export function isPrivate(cidr: Cidr): boolean {
  return PRIVATE.some((network) => overlaps(network, cidr))
}
