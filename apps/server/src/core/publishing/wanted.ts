import { type FieldError, toFieldErrors } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import {
  PublishedHttp,
  PublishedTcp,
  PublishedUdp,
  type PublishForm,
} from '@postern/contract/services/publishing'
import type { HttpServiceForm, TcpServiceForm } from '@postern/contract/services/services'

/** A service that a source wants, in the form that people would send. */
export type WantedService =
  | { type: 'http'; form: HttpServiceForm; enabled: boolean }
  | { type: 'tcp'; form: TcpServiceForm; enabled: boolean }

/** One service of the set, by its index. Without `service` it cannot be parsed. */
export interface Wanted {
  key: string
  service?: WantedService
  errors: FieldError[]
}

/** Parses each service on its own, so that a bad one does not affect the others. */
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
      return { errors: [], service: { type, enabled, form: { ...form, ...CHECKED, ...NO_SIGN_IN } } }
    }
    case 'tcp': {
      const { success, data, error } = PublishedTcp.safeParse(sent)
      if (!success) return unreadable(error.issues, sent)
      const { type, key: _, enabled, ...form } = data
      return { errors: [], service: { type, enabled, form: { ...form, ...CHECKED, proto: 'tcp' } } }
    }
    case 'udp': {
      const { success, data, error } = PublishedUdp.safeParse(sent)
      if (!success) return unreadable(error.issues, sent)
      const { type: proto, key: _, enabled, ...form } = data
      return {
        errors: [],
        service: { type: 'tcp', enabled, form: { ...form, ...CHECKED, proto, ssl: false } },
      }
    }
    default:
      return { errors: [{ field: 'type', message: 'must be http, tcp or udp' }] }
  }
}

/** Sources cannot skip the check of a domain. */
const CHECKED = { skipValidation: false } as const
const NO_SIGN_IN = { requireAuth: false, skipAuthRoutes: null } as const

/** Fields of people's forms that sources do not have. */
const OF_PEOPLE: Readonly<Record<string, string>> = {
  skipValidation: MESSAGES.checkOfPeople,
  ttl: MESSAGES.ttlOfPeople,
  requireAuth: MESSAGES.signInOfPeople,
  skipAuthRoutes: MESSAGES.signInOfPeople,
}

function unreadable(issues: Parameters<typeof toFieldErrors>[0], sent: Sent): Omit<Wanted, 'key'> {
  const errors = toFieldErrors(issues, sent).map((error) =>
    Object.hasOwn(OF_PEOPLE, error.field) ? { ...error, message: OF_PEOPLE[error.field] ?? '' } : error,
  )
  return { errors }
}
