import type { Fields, HistoryRecord } from '@postern/contract/history/history'
import { formatMoment } from '../../util/time.ts'

/** What a person reads of one field: that it is another now, or what it is of something that came or went. */
export type Difference = { label: string } & (
  | { kind: 'value'; from: string | null; to: string | null }
  | { kind: 'list'; added: string[]; removed: string[] }
  | { kind: 'text'; text: string; isSecret: boolean }
)

/** The names of fields as the forms have them, by the kind of their record where it matters. */
const LABELS: Readonly<Record<string, string>> = {
  'node.name': 'Node Name',
  'service.name': 'Service Name',
  'service.enabled': 'Public Access',
  'node.enabled': 'Connected',
  'service.ssl': 'SSL Termination',
  'domain.ssl': 'SSL Certificate Type',
  'person.username': 'User Name',
  name: 'Name',
  node: 'Node',
  domain: 'Domain',
  type: 'Type',
  address: 'Address',
  dns: 'DNS',
  keepalive: 'Persistence Keepalive',
  isGateway: 'Network Gateway',
  gatewayNetworks: 'Interfaces & Subnets',
  allowInternet: 'Send all internet traffic through the VPN',
  advanced: 'Advanced',
  agentMayPublish: 'Agent May Publish Services',
  agentDomains: 'Domains Its Agent May Use',
  agentMaxServices: 'Maximum Services',
  agentMaxDomains: 'Maximum Domains',
  agentMaxPorts: 'Maximum Ports',
  agentMaxEntries: 'Maximum IP List Entries',
  backendHost: 'Backend Host',
  backendPort: 'Backend Port',
  backendProto: 'Backend Protocol',
  pathLocation: 'Public HTTP Path',
  proto: 'Protocol',
  port: 'Public Port',
  allowedIps: 'Allowed IPs',
  blockedIps: 'Blocked IPs',
  requireAuth: 'Require Authentication',
  skipAuthRoutes: 'Paths to bypass authentication',
  stripPath: 'Strip Path Prefix',
  skipValidation: 'Skip Domain Validation',
  authentication: 'OAuth2 Authentication',
  allowedEmails: 'Allowed Emails',
  expireAt: 'Expire At',
  revoked: 'Revoked',
  mutedUntil: 'Muted Until',
  notBefore: 'Valid From',
  notAfter: 'Valid Until',
  isDisabled: 'Disabled',
  isLimited: 'Limited',
  presharedKey: 'Preshared Key',
  tokenHash: 'Token',
  passwordHash: 'Password',
}

/** `agentMaxPorts` reads as `Agent Max Ports` where no form names it. */
export function labelOf(kind: string, field: string): string {
  const words = field.replace(/([A-Z])/g, ' $1')
  return LABELS[`${kind}.${field}`] ?? LABELS[field] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** For a record that stays, the fields that changed; for a new or deleted one, all of its fields. */
export function differencesOf({ kind, name, before, after }: HistoryRecord): Difference[] {
  const all: Fields = { ...before, ...after }
  return Object.keys(all).flatMap((field): Difference[] => {
    // The value of a setting is called by the name of the setting.
    const label = kind === 'setting' && field === 'value' ? name : labelOf(kind, field)
    const [from, to] = [before?.[field] ?? null, after?.[field] ?? null]
    if (from === null && to === null) return []
    if (isSecretWord(from) || isSecretWord(to))
      return [{ label, kind: 'text', text: secretText(from, to), isSecret: true }]
    if (before === null || after === null) return wholeText(label, from ?? to)
    if (Array.isArray(from) || Array.isArray(to)) return listDifference(label, textsOf(from), textsOf(to))
    return [{ label, kind: 'value', from: textOf(from), to: textOf(to) }]
  })
}

/** As the server writes times. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const isSecretWord = (value: unknown) => value === 'set' || value === 'changed'

/** What is empty says nothing. */
function wholeText(label: string, value: unknown): Difference[] {
  const text = Array.isArray(value) ? textsOf(value).join(', ') : textOf(value)
  return text ? [{ label, kind: 'text', text, isSecret: false }] : []
}

function secretText(from: unknown, to: unknown): string {
  if (from === null) return 'set'
  return to === null ? 'removed' : 'changed'
}

function listDifference(label: string, from: readonly string[], to: readonly string[]): Difference[] {
  const added = to.filter((text) => !from.includes(text))
  const removed = from.filter((text) => !to.includes(text))
  return added.length + removed.length === 0 ? [] : [{ label, kind: 'list', added, removed }]
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((each) => textOf(each) ?? '') : []

function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'object') return Object.values(value).filter(Boolean).join(' ')
  const text = String(value)
  return INSTANT.test(text) ? formatMoment(text) : text
}
