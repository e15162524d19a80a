import { type AlertRule, FIGURES } from '@postern/contract/alerts/rules'

const FOUND: Readonly<Record<Exclude<AlertRule['kind'], 'figure'>, (rule: AlertRule) => string>> = {
  'node-lost': () => 'A node that was online does not answer through its tunnel.',
  'service-unanswered': () => 'Visitors get no answer, although its node is online.',
  'certificate-ending': ({ threshold }) => `It ends in ${threshold} days or less, and its renewal fails.`,
  'edge-gone': () => 'It is not connected to the server, so no change reaches what is published.',
  'edge-problem': () =>
    'A part of it, or of the server, does not work: HAProxy, the tunnel, a file it cannot save.',
  'disk-full': ({ threshold }) => `Less than ${threshold} % of the disk of the server or an edge is free.`,
  'update-waiting': () =>
    'Security updates wait, edge and server have different versions, or changes wait until somebody acts.',
  'backup-failed': () =>
    'A backup could not be made, or there has been none for two days. Only where a directory for them is set.',
  'new-network': () => 'Somebody signs in to the console from where that account never was.',
}

/** When a rule finds something, in a sentence. */
export function ruleText(rule: AlertRule): string {
  if (rule.kind !== 'figure') return FOUND[rule.kind](rule)
  if (rule.figure === null) return ''
  const { text, unit, hasSubject } = FIGURES[rule.figure]
  const of = hasSubject ? ` of ${rule.subject ?? 'all services'}` : ''
  const limit = rule.threshold?.toLocaleString('en') ?? ''
  return `${text}${of} ${rule.comparison} ${limit}${unit && ` ${unit}`}.`
}
