import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import type { Identity } from './provider.ts'

/** The cookies of a request, by name. */
export type Cookies = ReadonlyMap<string, string>

/** The outcome of one step of the flow. */
export type Step =
  | { kind: 'go'; to: string; cookies: string[] }
  /** The visitor is not on the list. */
  | { kind: 'refused'; domain: string; identity: Identity; again: string; cookies: string[] }
  /** `again`: the address at which to begin again; null: only from the service itself. */
  | { kind: 'failed'; title: string; message: string; again: string | null; cookies: string[] }
  | { kind: 'out'; domain: string; cookies: string[] }

type Trouble = Pick<Extract<Step, { kind: 'failed' }>, 'title' | 'message'>

const TROUBLES = {
  noProvider: {
    title: 'Sign-in is not set up',
    message:
      'This service asks for a sign-in, but nobody is set up to sign you in. Tell whoever runs this server.',
  },
  noAnswer: {
    title: 'You could not be signed in',
    message: 'The sign-in provider did not confirm who you are. Try again, or tell whoever runs this server.',
  },
  tooOld: {
    title: 'This sign-in is over',
    message: 'It took too long, or was used before. Open the page again.',
  },
  otherBrowser: {
    title: 'This sign-in began elsewhere',
    message: 'It belongs to another browser, or this one does not keep cookies. Open the page again.',
  },
  notYet: {
    title: 'You are signed in',
    message:
      'The server is still letting you in, which usually takes less than a second. Try again in a moment.',
  },
} as const satisfies Record<string, Trouble>

export function failed(trouble: keyof typeof TROUBLES, again: string | null = null): Step {
  return { kind: 'failed', ...TROUBLES[trouble], again, cookies: [] }
}

const MAX_WANTED = 2048

/** A path of the domain itself; its host is prepended, so that it cannot lead elsewhere. */
export function wantedOf(to: string | undefined): string {
  const isPath = to !== undefined && to.length <= MAX_WANTED && /^\/[\x21-\x7e]*$/.test(to)
  return isPath && !Object.values<string>(SIGN_IN.paths).includes(to.split('?')[0] ?? '') ? to : '/'
}

export function beginAt(wanted: string, withAccount = false): string {
  const to = `${SIGN_IN.paths.begin}?to=${encodeURIComponent(wanted)}`
  return withAccount ? `${to}&account=other` : to
}

export function cookieOf(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`
}

export function dropCookie(name: string): string {
  return cookieOf(name, '', 0)
}
