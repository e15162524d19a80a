import type { Config } from '@postern/contract/config'
import type { CreatedNode } from '@postern/contract/nodes'
import { serverUrls } from './urls.ts'

export interface CommandPart {
  kind: 'text' | 'flag' | 'secret'
  text: string
}

/** Shown in place of the token. */
const HIDDEN = 'SECRET'

/** The address of this installation for nodes: the page's own origin, unless only this machine can use it. */
export function connectUrl(origin: string, config: Pick<Config, 'publicUrl'>): string {
  return isLoopback(new URL(origin).hostname) ? config.publicUrl : origin
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  )
}

type Server = Pick<Config, 'publicUrl' | 'caFingerprint'>

/** The options with which the host allows what the server will do. */
type Rights = Pick<CreatedNode, 'isGateway' | 'gatewayNetworks' | 'allowInternet' | 'dns'>

/**
 * The command in parts, with the token hidden. The token goes through standard input from a shell builtin:
 * arguments are visible to every user of that machine while a command runs.
 */
export function renderConnectCommand(origin: string, config: Server, node: Rights): CommandPart[] {
  return [
    { kind: 'text', text: 'echo ' },
    { kind: 'secret', text: HIDDEN },
    { kind: 'text', text: ' | ' },
    ...renderCall(origin, config, [{ kind: 'flag', text: '--token -' }]),
    ...renderRights(node),
  ]
}

/** The same with the token as an option. */
export function renderShortConnectCommand(origin: string, config: Server, node: Rights): CommandPart[] {
  const token: CommandPart[] = [
    { kind: 'flag', text: '--token=' },
    { kind: 'secret', text: HIDDEN },
  ]
  return [...renderCall(origin, config, token), ...renderRights(node)]
}

/** Without them the agent stays a plain node, whatever the server wants. */
function renderRights({ isGateway, gatewayNetworks, allowInternet, dns }: Rights): CommandPart[] {
  const networks = isGateway ? (gatewayNetworks ?? []).map(({ subnet }) => subnet).join(',') : ''
  const parts: CommandPart[] = []
  if (networks !== '') parts.push({ kind: 'flag', text: ' --gateway=' }, { kind: 'text', text: networks })
  if (allowInternet) parts.push({ kind: 'flag', text: ' --all-traffic' })
  if (dns) parts.push({ kind: 'flag', text: ' --dns' })
  return parts
}

/** Only https has a certificate to be pinned. */
function renderCall(origin: string, config: Server, token: readonly CommandPart[]): CommandPart[] {
  const url = connectUrl(origin, config)
  const parts: CommandPart[] = [
    { kind: 'text', text: 'postern connect ' },
    { kind: 'flag', text: '--url=' },
    { kind: 'text', text: `${url} ` },
    ...token,
  ]
  if (!url.startsWith('https:')) return parts
  return [...parts, { kind: 'flag', text: ' --fingerprint=' }, { kind: 'text', text: config.caFingerprint }]
}

/** The command to copy, with the real token. */
export function connectCommandText(parts: readonly CommandPart[], token: string): string {
  return parts.map((part) => (part.kind === 'secret' ? token : part.text)).join('')
}

/**
 * The command that installs the agent on a node, or null when this installation was built without it. The certificate
 * may be self-signed (`-k`), because the checksum, which came with the session, decides. The script has the checksums
 * of the agent's files.
 */
export function installCommand({ publicUrl, installerSha256 }: Config): string | null {
  if (installerSha256 === null) return null
  return [
    'f=$(mktemp)',
    `curl -fsSk ${serverUrls.installer(publicUrl)} -o "$f"`,
    `echo "${installerSha256}  $f" | sha256sum -c`,
    'sh "$f"',
  ].join(' && ')
}

/** The first lines of deploy/docker/gateway.compose.yaml, filled in for this node. */
export function renderComposeLines(
  origin: string,
  config: Server,
  { token, gatewayNetworks }: Pick<CreatedNode, 'token' | 'gatewayNetworks'>,
): string {
  const url = connectUrl(origin, config)
  const fingerprint = url.startsWith('https:') ? config.caFingerprint : "''"
  const network = gatewayNetworks?.[0]?.subnet
  return [
    `x-url: &url ${url}`,
    `x-token: &token ${token}`,
    `x-fingerprint: &fingerprint ${fingerprint}`,
    ...(network === undefined ? [] : [`x-network: &network ${network}`]),
  ].join('\n')
}
