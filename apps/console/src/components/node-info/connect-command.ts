import type { Config } from '@postern/contract/config'

export interface CommandPart {
  kind: 'text' | 'flag' | 'secret'
  text: string
}

/** What stands in the place of the token wherever the command is shown. */
const HIDDEN = 'SECRET'

/** Where a node reaches this installation: the page's own origin, unless only this machine can use that. */
export function connectUrl(origin: string, config: Pick<Config, 'publicUrl'>): string {
  return isLoopback(new URL(origin).hostname) ? config.publicUrl : origin
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  )
}

type Server = Pick<Config, 'publicUrl' | 'caFingerprint'>

/**
 * The command in parts to be drawn, with the token hidden. The token comes by standard input, from a command that is
 * part of the shell: what is on a command line is shown to every user of that machine while it runs.
 */
export function renderConnectCommand(origin: string, config: Server): CommandPart[] {
  return [
    { kind: 'text', text: 'echo ' },
    { kind: 'secret', text: HIDDEN },
    { kind: 'text', text: ' | ' },
    ...renderCall(origin, config, [{ kind: 'flag', text: '--token -' }]),
  ]
}

/** The same with the token among the options. */
export function renderShortConnectCommand(origin: string, config: Server): CommandPart[] {
  return renderCall(origin, config, [
    { kind: 'flag', text: '--token=' },
    { kind: 'secret', text: HIDDEN },
  ])
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

/** The command as it is copied, with the real token. */
export function connectCommandText(parts: readonly CommandPart[], token: string): string {
  return parts.map((part) => (part.kind === 'secret' ? token : part.text)).join('')
}
