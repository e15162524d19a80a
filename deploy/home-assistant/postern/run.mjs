import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import process, { env } from 'node:process'
import { readOptions, servicesOf } from './options.mjs'

/** Becomes the agent, configured by the add-on's options. */
const OPTIONS = '/run/postern/options.json'
const AGENT = '/opt/postern/postern.mjs'
const SERVICES = `${env.POSTERN_AGENT_DIR}/services.json`

const { wanted, problems } = readOptions(readFileSync(OPTIONS, 'utf8'))
if (problems.length > 0) {
  for (const problem of problems) console.log(`Change this in the add-on's configuration. ${problem}.`)
  process.exit(1)
}

const { url, token, fingerprint, domain } = wanted
console.log(`This add-on connects to ${new URL(url).origin} and keeps connected.`)
console.log(
  domain === undefined
    ? 'Publish Home Assistant is off: only what you add to this node in the console is published.'
    : `It publishes Home Assistant at https://${domain.toLowerCase()}/, which must trust its address: see the documentation of this add-on.`,
)

// A gateway into the private networks that the console lists: the add-on's own and the home's.
Object.assign(env, {
  POSTERN_URL: url,
  POSTERN_TOKEN: token,
  POSTERN_FINGERPRINT: fingerprint,
  POSTERN_GATEWAY: 'private',
})
// An empty list removes what an earlier start published; an add-on that never published needs no right to.
if (domain !== undefined || existsSync(SERVICES)) {
  writeFileSync(SERVICES, JSON.stringify(servicesOf(domain)))
  env.POSTERN_PUBLISH_FILE = SERVICES
}
process.argv = [process.execPath, AGENT, 'run']
await import(AGENT)
