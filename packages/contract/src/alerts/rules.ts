import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { ALERT_MESSAGES } from './messages.ts'

/** What is watched without anybody having set it up, and last a figure that a person chose. */
export const AlertKind = z.enum([
  'node-lost',
  'service-unanswered',
  'certificate-ending',
  'edge-gone',
  'edge-problem',
  'disk-full',
  'update-waiting',
  'backup-failed',
  'new-network',
  'figure',
])
export type AlertKind = z.infer<typeof AlertKind>

/** The rules that always exist, as lists and messages name them. */
export const BUILT_IN_RULES = {
  'node-lost': 'Node Lost',
  'service-unanswered': 'Service Not Answering',
  'certificate-ending': 'Certificate Ending',
  'edge-gone': 'Edge Gone',
  'edge-problem': 'Edge Problem',
  'disk-full': 'Disk Nearly Full',
  'update-waiting': 'Update Needs a Person',
  'backup-failed': 'Backup Failed',
  'new-network': 'Sign-in From a New Network',
} as const satisfies Readonly<Record<Exclude<AlertKind, 'figure'>, string>>

/** What `threshold` of a rule counts; other built-in rules have none. */
export const THRESHOLDS = {
  'certificate-ending': { unit: 'days', least: 1, most: 14, message: ALERT_MESSAGES.days },
  'disk-full': { unit: 'percent', least: 1, most: 99, message: ALERT_MESSAGES.percent },
} as const

/** What a rule of one's own can watch. */
export const AlertFigure = z.enum([
  'requests',
  'received',
  'sent',
  'errors',
  'error-share',
  'p50',
  'p95',
  'open-connections',
  'offline-nodes',
  'unanswered-services',
])
export type AlertFigure = z.infer<typeof AlertFigure>

interface FigureKind {
  text: string
  unit: string
  /** It is of a service, a node, a domain, an edge or all of them, as charts have it. */
  hasSubject: boolean
  /** Only HTTP services have it. */
  isOfAnswers?: true
  /** It is worked out of all that the rule's minutes counted together, instead of one minute after the other. */
  isOverMinutes?: true
  /** The largest limit. */
  most: number
  /** A limit, for a form that is empty. */
  example: string
}

const MOST_THRESHOLD = 1_000_000_000
const SUBJECT = { hasSubject: true, most: MOST_THRESHOLD } as const
const ANSWERS = { hasSubject: true, isOfAnswers: true } as const
/** Longer times are counted as one (`RESPONSE_BOUNDS`). */
const TIME = { ...ANSWERS, isOverMinutes: true, unit: 'ms', most: 30_000 } as const
const WHOLE = { unit: '', hasSubject: false, most: MOST_THRESHOLD } as const

export const FIGURES: Readonly<Record<AlertFigure, FigureKind>> = {
  requests: { ...SUBJECT, text: 'Requests', unit: 'per minute', example: '1000' },
  received: { ...SUBJECT, text: 'Received', unit: 'KB/s', example: '5000' },
  sent: { ...SUBJECT, text: 'Sent', unit: 'KB/s', example: '5000' },
  errors: { ...ANSWERS, text: 'Errors', unit: 'per minute', most: MOST_THRESHOLD, example: '10' },
  'error-share': {
    ...ANSWERS,
    isOverMinutes: true,
    text: 'Error Share',
    unit: '%',
    most: 99,
    example: '5',
  },
  p50: { ...TIME, text: 'Response Time (half within)', example: '300' },
  p95: { ...TIME, text: 'Response Time (95 % within)', example: '1000' },
  'open-connections': { ...WHOLE, text: 'Open Connections', example: '10000' },
  'offline-nodes': { ...WHOLE, text: 'Offline Nodes', example: '3' },
  'unanswered-services': { ...WHOLE, text: 'Services Not Answering', example: '3' },
}

/** A share or a time of fewer requests within the rule's minutes says nothing. */
export const LEAST_REQUESTS = 20

/** So many minutes are read together for a share or a time: of a whole day, that of many rules would take too long. */
const MOST_TOGETHER = 60

/** Whose figure a rule watches: at most one of them; none is all of them. */
export const SUBJECTS = ['nodeId', 'serviceId', 'domainId', 'edgeId'] as const
export type Subject = (typeof SUBJECTS)[number]

export const Comparison = z.enum(['above', 'below'])
export type Comparison = z.infer<typeof Comparison>

const minutes = z
  .int(ALERT_MESSAGES.minutes)
  .check(z.gte(1, ALERT_MESSAGES.minutes), z.lte(1440, ALERT_MESSAGES.minutes))
const threshold = z
  .int({
    error: ({ input }) =>
      input === null || input === undefined || input === ''
        ? ALERT_MESSAGES.required
        : ALERT_MESSAGES.threshold,
  })
  .check(z.gte(0, ALERT_MESSAGES.threshold), z.lte(MOST_THRESHOLD, ALERT_MESSAGES.threshold))

const subjectId = z.int(ALERT_MESSAGES.pick).check(z.positive(ALERT_MESSAGES.pick))

/** A rule of one's own. Without a subject its figure is that of the whole installation. */
export const FigureRuleForm = z
  .strictObject({
    name: f.name,
    enabled: f.withDefault(z.boolean(), true),
    figure: AlertFigure,
    comparison: f.withDefault(Comparison, 'above'),
    threshold,
    minutes: f.withDefault(minutes, 5),
    nodeId: f.blankable(subjectId),
    serviceId: f.blankable(subjectId),
    domainId: f.blankable(subjectId),
    edgeId: f.blankable(subjectId),
  })
  .check(z.superRefine(checkFigure, f.together))

const isOver = (value: unknown, most: number) => typeof value === 'number' && value > most

/** Other fields may be wrong themselves. */
function checkFigure(form: Record<string, unknown>, found: z.core.$RefinementCtx): void {
  const say = (field: string, message: string) =>
    found.addIssue({ code: 'custom', path: [field], message, input: form[field] })
  const [, second] = SUBJECTS.filter((subject) => form[subject])
  if (second !== undefined) say(second, ALERT_MESSAGES.subject)
  const figure = AlertFigure.safeParse(form.figure).data
  if (figure === undefined) return
  const { unit, most, isOverMinutes } = FIGURES[figure]
  if (isOverMinutes && isOver(form.minutes, MOST_TOGETHER)) say('minutes', ALERT_MESSAGES.fewMinutes)
  if (most < MOST_THRESHOLD && isOver(form.threshold, most))
    say('threshold', unit === '%' ? ALERT_MESSAGES.share : ALERT_MESSAGES.time)
}

export type FigureRuleForm = z.infer<typeof FigureRuleForm>
export type FigureRuleFormInput = z.input<typeof FigureRuleForm>

/** What can be set for a built-in rule. `threshold` only where `THRESHOLDS` has its kind. */
export const BuiltInRuleForm = z.strictObject({
  enabled: f.withDefault(z.boolean(), true),
  minutes: f.withDefault(minutes, 5),
  threshold: f.blankable(threshold),
})
export type BuiltInRuleForm = z.infer<typeof BuiltInRuleForm>
export type BuiltInRuleFormInput = z.input<typeof BuiltInRuleForm>

export const AlertRule = z.object({
  id: z.number(),
  kind: AlertKind,
  name: z.string(),
  enabled: z.boolean(),
  /** How long it must be so before somebody is told; null for what just happens. */
  minutes: z.nullable(z.number()),
  threshold: z.nullable(z.number()),
  /** Of one's own from here on; null for built-in ones. */
  figure: z.nullable(AlertFigure),
  comparison: z.nullable(Comparison),
  nodeId: z.nullable(z.number()),
  serviceId: z.nullable(z.number()),
  domainId: z.nullable(z.number()),
  edgeId: z.nullable(z.number()),
  /** The name of the node, service, domain or edge. */
  subject: z.nullable(z.string()),
  created_at: f.time,
  updated_at: f.time,
})
export type AlertRule = z.infer<typeof AlertRule>
export const AlertRuleList = z.array(AlertRule)
