import type { SignIn, TunnelSettings } from '@postern/contract/edge/desired-state'
import { changesOf, rowsOf, type Sections } from '@postern/contract/sections'
import { sessionHead } from '@postern/contract/sign-in/sign-in'
import { FLAGS, OWN_HOST } from './routes.ts'

export type SignInSections = Sections<SignIn>

type Keys = Pick<TunnelSettings, 'signInKeys' | 'identityKeys'>

/** The lines of `sign-in.map`, and the keys that the last update may have changed. */
interface SignInLines {
  /**
   * `d<domain>` → the route to the server, `m<entry>` → its domain, `k<head of a session>` → its key, `j` → the JWKS
   * in base64.
   */
  lines: ReadonlyMap<string, string>
  touched: ReadonlySet<string>
}

export interface SignInTable {
  /** @param routes the lines of the map of routes: one of them is the console's */
  update(sections: SignInSections, settings: Keys, routes: ReadonlyMap<string, string>): SignInLines
}

/** Kept up to date section by section. The next update changes the returned objects. */
export function createSignInTable(): SignInTable {
  const lines = new Map<string, string>()
  let sections: SignInSections = new Map()
  let server: string | undefined
  let keys: [string, string][] = []
  return {
    update(next, settings, routes) {
      const touched = new Set<string>()
      const put = ([key, value]: [string, string]) => {
        lines.set(key, value)
        touched.add(key)
      }
      const drop = ([key]: [string, string]) => {
        lines.delete(key)
        touched.add(key)
      }
      const now = serverRoute(routes)
      const { gone, come } =
        now === server ? changesOf(sections, next) : { gone: rowsOf(sections), come: rowsOf(next) }
      // Removals before additions: a changed row may have the same lines.
      for (const each of gone) linesOf(each, server).forEach(drop)
      for (const each of come) linesOf(each, now).forEach(put)
      keys.forEach(drop)
      keys = linesOfKeys(settings)
      keys.forEach(put)
      sections = next
      server = now
      return { lines, touched }
    },
  }
}

function linesOf({ domain, members }: SignIn, server: string | undefined): [string, string][] {
  const entries = members.map((id): [string, string] => [`m${id}`, domain])
  return server === undefined ? entries : [[`d${domain}`, server], ...entries]
}

function linesOfKeys({ signInKeys, identityKeys }: Keys): [string, string][] {
  const seals = signInKeys.map(({ id, secret }): [string, string] => [`k${sessionHead(id)}`, secret])
  return identityKeys.length === 0 ? seals : [...seals, ['j', btoa(renderJwks(identityKeys))]]
}

/** In the form of RFC 7517, for services that verify identities. */
function renderJwks(keys: Keys['identityKeys']): string {
  const common = { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' }
  return JSON.stringify({ keys: keys.map(({ id, x, y }) => ({ ...common, kid: id, x, y })) })
}

/** To the server, like the console's own route, but for everybody: without its IP list and its sign-in. */
function serverRoute(routes: ReadonlyMap<string, string>): string | undefined {
  const [id, node, address, port, flags = ''] = routes.get(`${OWN_HOST}/`)?.split('|') ?? []
  return flags.includes(FLAGS.console)
    ? [id, node, address, port, FLAGS.console + FLAGS.agent, ''].join('|')
    : undefined
}
