import { type Cidr, contains, overlaps, parseCidr } from './cidr.ts'

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

/**
 * What is not the internet: private, shared, link-local and special networks; networks that a relay would unwrap into
 * those (NAT64, 6to4, Teredo); and 168.63.129.16, where Azure answers its machines. Networks of documentation are
 * left out: nothing is there.
 */
export const NOT_THE_INTERNET: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  // All but 2000::/3, the global unicast addresses: NAT64, discard, unique local, link-local, multicast and more.
  '::/3',
  '4000::/2',
  '8000::/1',
  // Protocol assignments, such as Teredo, and 6to4.
  '2001::/23',
  '2002::/16',
]

/** Where networks behind gateways may be: private, shared (CGNAT), benchmarking and unique local addresses. */
export const PRIVATE_USE: readonly Cidr[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  'fc00::/7',
].map(parseCidr)

/** True when every address of a network is for private use, so that it is not on the internet. */
export function isForPrivateUse(cidr: Cidr): boolean {
  return PRIVATE_USE.some((network) => contains(network, cidr))
}

/** True when a network overlaps loopback, link-local, multicast or reserved addresses. */
export function isSpecial(cidr: Cidr): boolean {
  return NOT_A_TARGET.some((special) => overlaps(special, cidr))
}

const PRIVATE = NOT_THE_INTERNET.map(parseCidr)

/** True when an address cannot be reached from the internet. */
export function isPrivate(cidr: Cidr): boolean {
  return PRIVATE.some((network) => overlaps(network, cidr))
}
