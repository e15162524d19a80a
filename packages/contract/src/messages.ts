import type { BypassFault } from '@postern/net/bypass'

/** The messages under a field. Written once, so that the server and the console show the same words. */
export const MESSAGES = {
  required: 'This field is required',
  domainRequired: 'The domain field is required',
  domainFormat: 'The domain must be in a valid format',
  wildcard: 'Wildcards are not supported. Add each domain.',
  domainOrPath: 'A domain or a path is required',
  servicePath: 'must start with / and contain only letters, numbers, and / . _ ~ -',
  tracedAddress:
    'Enter an address like https://app.example.com/path, app.example.com or tcp://203.0.113.1:32760.',
  visitorIp: 'Enter one IP address, like 203.0.113.7.',
  ipv4: 'Enter an IPv4 address without a prefix length.',
  ipOrCidr: 'Enter an IP address or network, like 203.0.113.7 or 203.0.113.0/24.',
  subnet: 'Enter a network with its prefix length, like 192.168.1.0/24.',
  dns: 'Enter IP addresses, separated by commas or spaces.',
  port: 'Enter a port from 1 to 65535.',
  keepalive: 'Enter a number of seconds from 0 to 65535.',
  interfaceName: 'Enter the name of a network interface, like eth0.',
  backendHost: 'Enter an IP address or a host name.',
  wireGuardKey: 'Enter a WireGuard key.',
  weakKey: 'This key is weak. Make a new one with wg genkey.',
  privateSubnet:
    'Enter a private network, inside 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7.',
  array: 'must be an array',
  date: 'must be a valid date',
  pastDate: 'Choose today or later.',
  duration: 'Enter a length of time from 1 second to 10 years, like 90m, 8h or 7d.',
  pastEnd: 'must be in the future',
  ttlOfPeople: 'A source sends its services again and again: say when this one ends, as endsAt',
  expiryTooLate: 'Choose a day within a year.',
  roleAboveOwn: 'A token may not do more than you may. Choose another role.',
  userCode: 'Enter the eight letters that the command shows, like WDJB-MJHT.',
  unknownUserCode:
    'No command waits with this code. Compare it with the one that the command shows; after ten minutes, start the command again.',
  controlCharacters: 'Control characters and invisible marks are not allowed.',
  unknownField: 'Unknown field',
  noTlsOverUdp: 'UDP has no TLS: choose tcp://, or switch SSL termination off',
  sharedCookies:
    'People sign in at this address, and browsers send its cookies to this port too: the program here could act as them. Choose another domain, or say that you trust it.',
  namedServices:
    'Services were at this name, and what they left in browsers could act in the console. Choose a name that no service had.',
  namedConsole:
    'The console was at this name: browsers and agents may still send it what opens the console. Choose another name.',
  consolesName:
    'The console is at this name, or was: what is in browsers still opens it. Choose another name, or let an administrator who is signed in save this.',
  leftServices:
    'Services would stay at the name that the console leaves, where browsers and agents may still send what opens the console. Move them first.',
  code: 'Enter the six digits that the app shows, or a recovery code.',
  wrongCode: 'This code is not right. Codes of an app last half a minute, and each works once.',
  wrongPassword: 'The password is not right.',
  signInAgain: 'Sign in again to do this.',
  email: 'must be a valid email',
  rulesRequired: 'Add a rule: without one, nobody would get an account.',
  noProvider: 'No provider is set up. Set one up under Settings first.',
  passwordPerson: 'Choose an administrator who is enabled and has a password.',
  claimOfAnyTenant:
    'With this issuer everybody who has a tenant at Microsoft chooses this claim. Use email or tid, or the issuer of your own tenant.',
  providerNamed: 'A provider has this name already. Choose another one.',
  noAuthentication: 'Authentication is not enabled for this domain',
  signInOfPeople: 'Only people set sign-in, in the console',
  checkOfPeople:
    'Only people can skip the check of a domain: give it to this node under “Domains Its Agent May Use” in its form',
  selfSignedOnly: 'Self-Signed when skipping domain validation',
  edgesRequired: 'Choose an edge, or leave the list empty for all of them.',
  unknownEdge: 'There is no such edge.',
  gatewayNetworks: 'A gateway needs at least one subnet',
  backendHostRefused: 'This node can only expose its own services. Leave the host empty.',
} as const

/** Messages about a line of the paths that need no sign-in. */
export const BYPASS_MESSAGES: Readonly<Record<BypassFault, string>> = {
  method: "should not contain HTTP method or '!=' prefix",
  characters: 'contains forbidden characters',
  expression: 'is not a valid regular expression',
  start: "must start with '/' or '^'",
  complex:
    'is not a valid regular expression here: it repeats a group, has an empty alternative, or has more than 62 parts',
  many: 'is one too many: 50 paths are allowed, and each alternative counts as one',
}

/** The message for a missing value only. As plain text it would replace the message of every check of the schema. */
export function missing(words: string) {
  return {
    error: ({ code, input }: { code: string; input?: unknown }) =>
      code === 'invalid_type' && (input === undefined || input === null) ? words : undefined,
  }
}
