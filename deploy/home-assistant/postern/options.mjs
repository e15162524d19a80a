/**
 * @typedef {{ url: string, token: string, fingerprint: string, domain: string | undefined }} Wanted What the add-on's
 * options request; `domain` is Home Assistant's, and undefined while it is not published.
 */

const FINGERPRINT = /^sha256:[0-9a-f]{64}$/i
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/i

/**
 * @param {string} text of /data/options.json
 * @returns {{ wanted: Wanted, problems: string[] }} problems say what a person must change
 */
export function readOptions(text) {
  const options = parse(text)
  const word = (/** @type {string} */ name) => (typeof options[name] === 'string' ? options[name].trim() : '')
  const wanted = {
    url: word('url'),
    token: word('token'),
    fingerprint: word('fingerprint'),
    domain: options.publish_home_assistant === true ? word('domain') : undefined,
  }
  return { wanted, problems: findProblems(wanted) }
}

/** @param {string} text @returns {Record<string, unknown>} */
function parse(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** @param {Wanted} wanted */
function findProblems({ url, token, fingerprint, domain }) {
  const problems = []
  if (!isServer(url))
    problems.push('Server: give the address of your server, like https://postern.example.com')
  if (!/^[!-~]{1,512}$/.test(token))
    problems.push(
      'Access token: paste the token that the console shows when you create a node, all in one line',
    )
  if (fingerprint && !FINGERPRINT.test(fingerprint))
    problems.push(
      'Fingerprint: copy it from the console, it is sha256: and 64 more characters, or leave it empty',
    )
  if (domain !== undefined && !DOMAIN.test(domain))
    problems.push(
      'Domain: give the name for Home Assistant, like home.example.com, or turn off Publish Home Assistant',
    )
  return problems
}

/** @param {string} text */
function isServer(text) {
  try {
    const { protocol, pathname, search, hash, username } = new URL(text)
    return protocol === 'https:' && pathname === '/' && !search && !hash && !username
  } catch {
    return false
  }
}

/** @param {string | undefined} domain @returns {object[]} what the agent reads from its file */
export function servicesOf(domain) {
  if (domain === undefined) return []
  return [
    {
      key: 'home-assistant',
      type: 'http',
      name: 'Home Assistant',
      domain: domain.toLowerCase(),
      backendHost: 'homeassistant',
      backendPort: 8123,
    },
  ]
}
