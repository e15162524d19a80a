import { type FieldError, toFieldErrors } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import { PublishedHttp, PublishedTcp, PublishedUdp, type PublishForm } from '@postern/contract/publishing'
import type { HttpServiceForm, TcpServiceForm } from '@postern/contract/services'

/** What a source wants of one service, as the forms of people would say it. */
export type WantedService =
  | { type: 'http'; form: HttpServiceForm; enabled: boolean }
  | { type: 'tcp'; form: TcpServiceForm; enabled: boolean }

/** One service of the set, by its place in it. Without `service` it cannot be read. */
export interface Wanted {
  key: string
  service?: WantedService
  errors: FieldError[]
}

/** Reads each service by itself, so that one which is wrong hides no other. */
export function readWanted(services: PublishForm['services']): Wanted[] {
  const keys = new Set<string>()
  return services.map((sent) => {
    const { key } = sent
    if (keys.has(key)) return { key, errors: [{ field: 'key', message: 'is used twice' }] }
    keys.add(key)
    return { key, ...readService(sent) }
  })
}

type Sent = PublishForm['services'][number]

function readService(sent: Sent): Omit<Wanted, 'key'> {
  switch (sent.type) {
    case 'http': {
      const { success, data, error } = PublishedHttp.safeParse(sent)
      if (!success) return unreadable(error.issues, sent)
      const { type, key: _, enabled, ...form } = data
      return { errors: [], service: { type, enabled, form: { ...form, ...UNSAID, ...NO_SIGN_IN } } }
    }
    case 'tcp': {
      const { success, data, error } = PublishedTcp.safeParse(sent)
      if (!success) return unreadable(error.issues, sent)
      const { type, key: _, enabled, ...form } = data
      return { errors: [], service: { type, enabled, form: { ...form, ...UNSAID, proto: 'tcp' } } }
    }
    case 'udp': {
      const { success, data, error } = PublishedUdp.safeParse(sent)
      if (!success) return unreadable(error.issues, sent)
      const { type: proto, key: _, enabled, ...form } = data
      return {
        errors: [],
        service: { type: 'tcp', enabled, form: { ...form, ...UNSAID, proto, ssl: false } },
      }
    }
    default:
      return { errors: [{ field: 'type', message: 'must be http, tcp or udp' }] }
  }
}

/** Whether a domain is checked is not for sources to say. */
const UNSAID = { skipValidation: false } as const
const NO_SIGN_IN = { requireAuth: false, skipAuthRoutes: null } as const

/** Fields of people's forms that sources do not have. */
const OF_PEOPLE: Readonly<Record<string, string>> = {
  skipValidation: MESSAGES.checkOfPeople,
  requireAuth: MESSAGES.signInOfPeople,
  skipAuthRoutes: MESSAGES.signInOfPeople,
}

function unreadable(issues: Parameters<typeof toFieldErrors>[0], sent: Sent): Omit<Wanted, 'key'> {
  const errors = toFieldErrors(issues, sent).map((error) =>
    Object.hasOwn(OF_PEOPLE, error.field) ? { ...error, message: OF_PEOPLE[error.field] ?? '' } : error,
  )
  return { errors }
}
