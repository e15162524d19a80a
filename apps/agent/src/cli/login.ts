import { endpoints } from '@postern/contract/endpoints/endpoints'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import { createApi } from '../operator/api.ts'
import { signInByBrowser } from '../operator/device-login.ts'
import { readServers, shortPath, writeServers } from '../operator/servers.ts'
import { type Call, type Context, defineCommand, findText, type Values } from './command.ts'
import {
  type ConnectOptions,
  parseAuthority,
  parseServerUrl,
  parseTokenSource,
  readToken,
} from './connect-options.ts'
import { settleAuthority } from './credentials.ts'

export const login = defineCommand({
  summary: 'sign in to a server, to work with it from this machine',
  help: `Usage: postern login URL [--fingerprint sha256:…] [--name NAME]
       postern login URL --token -

Keeps a person's API token, so that the other commands work with this server. It needs
no root, and no node on this machine. On a terminal it shows a code, which you enter in
a browser on any device; there you say what the command may do. Programs take a token
that was made in the console, under Account.

  --token TOKEN     the token; - reads it from standard input, which others cannot see
  --token-file F    or the file that it is in
  --fingerprint F   the authority of a server that signs its own certificate
  --ca-file F       or a file with the authority to trust
  --name NAME       what to call the server here (default: its host)
  --json            print one JSON object instead of text

The server signed in to last is the one that commands use. --server NAME names
another one, and so do POSTERN_URL and POSTERN_TOKEN.`,
  options: {
    token: { type: 'string' },
    'token-file': { type: 'string' },
    fingerprint: { type: 'string' },
    'ca-file': { type: 'string' },
    name: { type: 'string' },
  },
  argument: 'url',
  parse: parseLogin,
  async run(call, { url, source, name, authority }) {
    const { io } = call.context
    if (!source && (call.json || !io.ask))
      throw new AgentError(
        'usage',
        'Signing in by a browser needs a terminal. Without one, use --token - or --token-file FILE with an API token',
      )
    const kept = await readServers(call)
    const stored = kept.servers[name]?.url === url.origin ? (kept.servers[name]?.ca ?? null) : null
    // A token on standard input is read even where the server cannot be reached.
    const given = source ? await readPersonsToken(call, source) : undefined
    const place = { url: url.origin, ca: await settleAuthority(url, authority, stored) }
    const server = { ...place, token: given ?? (await signInByBrowser(call.context, place)) }
    const account = await createApi(server).call(endpoints.me)
    await writeServers(call, { current: name, servers: { ...kept.servers, [name]: server } })
    if (call.json) io.out(JSON.stringify({ server: name, url: server.url, account }))
    else {
      io.out(`Signed in to ${name} as ${printable(account.username)} (${account.role})`)
      io.out(`The token is in ${shortPath(call.context.environment.userDir)}, for this user only`)
    }
    return 'ok'
  },
})

async function readPersonsToken(call: Call, source: ConnectOptions['token']): Promise<string> {
  const token = await readToken(call.context, source, undefined)
  if (!token.startsWith(TOKEN_PREFIXES.node)) return token
  throw new AgentError(
    'usage',
    "That is a node's token, for postern connect. Make one under Account in the console",
  )
}

function parseLogin(values: Values, { environment }: Context) {
  const text = findText(values, 'url') ?? environment.url
  if (text === undefined)
    throw new AgentError('usage', 'Give the address of a server. See: postern login --help')
  const url = parseServerUrl(text, 'The address')
  const name = findText(values, 'name') ?? url.host
  if (!/^[\w.:[\]-]{1,100}$/.test(name) || name === '__proto__')
    throw new AgentError('usage', '--name must be up to 100 letters, digits, dots and hyphens')
  return {
    url,
    name,
    source: parseTokenSource(values, environment),
    authority: parseAuthority(values, environment),
  }
}

export const logout = defineCommand({
  summary: 'forget the token of a server',
  help: `Usage: postern logout [NAME] [--json]

Removes the server's token from this machine. It stays valid until somebody revokes
it in the console, under Account.`,
  options: {},
  argument: 'server',
  parse: (values) => findText(values, 'server'),
  async run(call, asked) {
    const { current, servers } = await readServers(call)
    const name = asked ?? current
    if (name === null || !Object.hasOwn(servers, name))
      throw new AgentError('not-signed-in', `${asked ?? 'Nothing'} is not signed in to here`)
    const { [name]: _, ...rest } = servers
    const next = current === name ? (Object.keys(rest)[0] ?? null) : current
    await writeServers(call, { current: next, servers: rest })
    call.context.io.out(
      call.json ? JSON.stringify({ forgotten: name, current: next }) : `The token for ${name} was removed`,
    )
    return 'ok'
  },
})
