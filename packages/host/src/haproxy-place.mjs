/**
 * Where Postern keeps a HAProxy of its own, on machines whose packaged one is too old: a folder for each version, and
 * a link to the one to start.
 */
export const HAPROXY_PLACE = '/usr/lib/postern'
export const HAPROXY_BIN = `${HAPROXY_PLACE}/bin`

/** Holds the newest version that this machine can have, as the last look found it. */
export const HAPROXY_NEWEST = '/run/postern-haproxy/newest'

/** Holds the security updates of the machine's packages that wait, as the last look found them; JSON. */
export const WAITING_UPDATES = '/run/postern-haproxy/updates.json'

/** The oldest release that understands our configuration, and the latest that it was tested with. */
export const OLDEST_HAPROXY = '3.0'
export const LATEST_HAPROXY = '3.4'

/**
 * The version in what `haproxy -v` or `show info` says, such as `HAProxy version 3.0.11-1+deb13u5 2026/11/18`.
 * @param {string} text
 * @returns {{ version: string, isTooOld: boolean, isUntested: boolean } | undefined} undefined: it is not HAProxy's
 */
export function parseHaproxyVersion(text) {
  const [, version, release] = /^(?:HA-?Proxy version )?((\d+\.\d+)\S*)/.exec(text) ?? []
  if (version === undefined || release === undefined) return undefined
  return {
    version,
    isTooOld: compareVersions(release, OLDEST_HAPROXY) < 0,
    isUntested: compareVersions(release, LATEST_HAPROXY) > 0,
  }
}

/**
 * Negative when the first is older. Compares number by number, which is enough for HAProxy's versions and Debian's
 * versions of it.
 * @param {string} one
 * @param {string} other
 */
export function compareVersions(one, other) {
  return one.localeCompare(other, 'en', { numeric: true })
}
