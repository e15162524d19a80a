import { findIp, formatIp } from '@postern/net/ip'
import * as z from 'zod/mini'
import { blankable } from '../fields.ts'
import { MESSAGES } from '../messages.ts'
import { ServiceType } from '../services/services.ts'
import { tracedAddress } from './address.ts'

/** From the name to the program's answer. */
export const WHY_STEPS = [
  'dns',
  'address',
  'port',
  'certificate',
  'route',
  'access',
  'tunnel',
  'target',
  'answer',
] as const
export type WhyStepName = (typeof WHY_STEPS)[number]

export const WHY_TITLES: Readonly<Record<WhyStepName, string>> = {
  dns: 'Name in DNS',
  address: 'Address of this server',
  port: 'Port open',
  certificate: 'Certificate',
  route: 'Service found',
  access: 'Visitor let in',
  tunnel: 'Tunnel to the node',
  target: 'Backend reached',
  answer: 'Answer of the program',
}

/**
 * `note`: visitors come through, and something is to be known. `stop`: they come no further. `none`: it does not apply
 * here. `waiting`: nobody has looked, and once the whole is done nobody does.
 */
export const WhyStepState = z.enum(['waiting', 'ok', 'note', 'stop', 'none'])
export type WhyStepState = z.infer<typeof WhyStepState>

/** As people read the state of a step. */
export const WHY_STATES: Readonly<Record<WhyStepState, string>> = {
  waiting: 'Not looked at',
  ok: 'OK',
  note: 'Note',
  stop: 'Stops here',
  none: 'Not needed',
}

export const WhyStep = z.object({
  step: z.enum(WHY_STEPS),
  state: WhyStepState,
  /** What was seen, in words; empty while nobody has looked. */
  seen: z.string(),
  /** What to do about it, in one sentence. */
  next: z.nullable(z.string()),
  /** When it was seen. */
  at: z.nullable(z.string()),
})
export type WhyStep = z.infer<typeof WhyStep>

/** Whether and where visitors of an address stop on their way to a program. */
export const Why = z.object({
  id: z.number(),
  /** As it was understood. */
  address: z.string(),
  /** Whose way it is; null: nobody's in particular. */
  visitor: z.nullable(z.string()),
  begunAt: z.string(),
  state: z.enum(['looking', 'works', 'stopped']),
  /** The service that the edge found there. */
  service: z.nullable(
    z.object({
      id: z.number(),
      type: ServiceType,
      nodeId: z.number(),
      nodeName: z.string(),
      name: z.string(),
    }),
  ),
  steps: z.array(WhyStep),
})
export type Why = z.infer<typeof Why>

const visitorIp = z.pipe(
  z.string().check(
    z.trim(),
    z.refine((text) => findIp(text) !== undefined, { error: MESSAGES.visitorIp }),
  ),
  z.transform((text) => {
    const ip = findIp(text)
    return ip ? formatIp(ip) : text
  }),
)

/** `visitor`: an IP address; blank: of the person who asks. */
export const WhyForm = z.strictObject({ address: tracedAddress, visitor: blankable(visitorIp) })
export type WhyForm = z.infer<typeof WhyForm>

/** As text, for a message to someone who helps; also for a terminal, where a control character would be a command. */
export function renderWhy({ address, visitor, begunAt, state, service, steps }: Why): string {
  const head = [
    `Why? ${address}`,
    `Looked at: ${begunAt}`,
    ...(visitor === null ? [] : [`Visitor: ${visitor}`]),
    ...(service === null ? [] : [`Service: ${service.name} on ${service.nodeName}`]),
    `Result: ${whyResult(state)}`,
  ]
  const lines = steps.flatMap(({ step, state: is, seen, next, at }, index) => [
    `${index + 1}. ${WHY_TITLES[step]}: ${is === 'waiting' && state === 'looking' ? 'Waiting' : WHY_STATES[is]}`,
    ...(seen === '' ? [] : [`   ${seen}${at === null ? '' : ` (${at.slice(11, 19)} UTC)`}`]),
    ...(next === null ? [] : [`   → ${next}`]),
  ])
  return [...head, '', ...lines].map((line) => line.replace(/\p{C}/gu, ' ')).join('\n')
}

export function whyResult(state: Why['state']): string {
  if (state === 'looking') return 'Looking'
  return state === 'works' ? 'Visitors get an answer' : 'Visitors come no further than the step that stops'
}
