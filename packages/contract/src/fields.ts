import { findCidr, formatCidr } from '@postern/net/cidr'
import { findDuration } from '@postern/net/duration'
import { isDomainName, isHostname, normaliseDomain } from '@postern/net/hostname'
import { findIp, formatIp, isIpv4 } from '@postern/net/ip'
import { isPublicKey, isWireGuardKey } from '@postern/net/keys'
import { isServicePath, normaliseServicePath } from '@postern/net/service-path'
import * as z from 'zod/mini'
import { LIMITS } from './limits.ts'
import { MESSAGES, missing } from './messages.ts'

/** `null`, `""` and an absent optional field mean the same: null. */
export function blankable<O, I>(schema: z.ZodMiniType<O, I>) {
  const blankToNull = z.transform(
    (value: unknown) => (value === '' || value === undefined ? null : value) as I | null,
  )
  return z._default(
    z.pipe(blankToNull as z.ZodMiniType<I | null, I | '' | null | undefined>, z.nullable(schema)),
    null,
  )
}

/** `null`, `""` and an absent field mean the same: the default. */
export function withDefault<O, I>(schema: z.ZodMiniType<O, I>, fallback: O & I) {
  const blankToFallback = z.transform(
    (value: unknown) => (value === '' || value === null || value === undefined ? fallback : value) as I,
  )
  return z._default(
    z.pipe(blankToFallback as z.ZodMiniType<I, I | '' | null | undefined>, schema),
    // The fallback is a value of the schema, and a pipe's output is the schema's.
    fallback as never,
  )
}

/** A rule about several fields: it runs even when another field is wrong, so that all errors show at once. */
export const together = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
}

/** Control characters, halves of characters, line breaks, and marks that reverse a text or are invisible in it. */
const NOT_IN_A_NAME = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u

/** A name that a person gives: one line, trimmed, in one Unicode form, with at least one visible character. */
export const name = z.string(missing(MESSAGES.required)).check(
  z.trim(),
  z.normalize('NFC'),
  z.refine((text) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text), MESSAGES.required),
  z.maxLength(LIMITS.nameLength),
  z.refine((text) => !NOT_IN_A_NAME.test(text), MESSAGES.controlCharacters),
)

/** Six digits, or a recovery code, which may be grouped in any way. */
export const code = z.string(missing(MESSAGES.required)).check(
  z.overwrite((text) => text.replace(/[\s-]/g, '').toLowerCase()),
  z.minLength(1, MESSAGES.required),
  z.regex(/^(\d{6}|[a-z2-7]{16})$/, MESSAGES.code),
)

export const id = z.int().check(z.positive())
/** An id in a path or query, where everything is text. */
export const idText = z.pipe(z.string().check(z.regex(/^[1-9]\d{0,14}$/)), z.transform(Number))
export const byId = z.object({ id: idText })
export const port = z.int(MESSAGES.port).check(z.gte(1, MESSAGES.port), z.lte(65535, MESSAGES.port))
const isBlank = (input: unknown) => input === undefined || input === null || input === ''
/** A field without a default: blank and absent are errors, with messages of their own. */
export const requiredPort = z
  .int({ error: ({ input }) => (isBlank(input) ? MESSAGES.required : MESSAGES.port) })
  .check(z.gte(1, MESSAGES.port), z.lte(65535, MESSAGES.port))
export const time = z.string()

const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** Also checks the calendar: `Date.parse` reads the 30th of February as the 2nd of March. */
function isInstant(text: string): boolean {
  const day = INSTANT.exec(text)?.[1]
  // At the end of 9999 an instant may be in the year 10000 in another time zone, which RFC 3339 cannot write.
  if (day === undefined || !(Date.parse(text) < Date.UTC(9999, 0))) return false
  return new Date(day).toISOString().startsWith(day)
}

/** A moment with any offset, converted to UTC. */
export const instant = z.pipe(
  z.string(MESSAGES.date).check(z.refine(isInstant, { error: MESSAGES.date, abort: true })),
  z.transform((text: string) => new Date(text).toISOString()),
)

const readDuration = z.transform((value: string | number) =>
  typeof value === 'string' ? (findDuration(value) ?? value) : value,
)

/** A length of time: a number of seconds, or text like `90m`, `1h30m` or `7d`. It comes out in seconds. */
export const duration = z.pipe(
  readDuration as z.ZodMiniType<number, string | number>,
  z.int(MESSAGES.duration).check(z.gte(1, MESSAGES.duration), z.lte(LIMITS.longestTtl, MESSAGES.duration)),
)

/** A domain name, brought into its one spelling. Wildcards are refused with a message of their own. */
export const domainName = z.pipe(
  z
    .string(missing(MESSAGES.domainRequired))
    .check(z.trim(), z.minLength(1, MESSAGES.domainRequired), z.maxLength(1000)),
  z.pipe(
    z.transform(normaliseDomain),
    z.string().check(
      z.refine((text) => !text.includes('*'), { error: MESSAGES.wildcard }),
      z.refine(isDomainName, MESSAGES.domainFormat),
    ),
  ),
)

/** A domain name, or `*.` before one: every name below it. */
export const domainOrBelow = z.pipe(
  z
    .string(missing(MESSAGES.domainRequired))
    .check(z.trim(), z.minLength(1, MESSAGES.domainRequired), z.maxLength(1000)),
  z.pipe(
    z.transform((text: string) =>
      text.startsWith('*.') ? `*.${normaliseDomain(text.slice(2))}` : normaliseDomain(text),
    ),
    z.string().check(z.refine((text) => isDomainName(text.replace(/^\*\./, '')), MESSAGES.domainFormat)),
  ),
)

export const servicePath = z.pipe(
  z.string().check(z.maxLength(1000)),
  z.pipe(z.transform(normaliseServicePath), z.string().check(z.refine(isServicePath, MESSAGES.servicePath))),
)

/** An address or a network; host bits are cut off; a network of one is written as its address. */
export const ipOrCidr = z.pipe(
  z.string(missing(MESSAGES.ipOrCidr)).check(
    z.trim(),
    z.refine((text) => findCidr(text) !== undefined, { error: MESSAGES.ipOrCidr }),
  ),
  z.transform((text) => {
    const cidr = findCidr(text)
    const ip = findIp(text.split('/')[0] ?? '')
    if (!cidr || !ip) return text
    return text.includes('/') && cidr.prefix !== (ip.family === 4 ? 32 : 128)
      ? formatCidr(cidr)
      : formatIp(ip)
  }),
)

/** A network with its prefix length; its host bits are cut off. */
export const subnet = z.pipe(
  z.string(missing(MESSAGES.required)).check(
    z.trim(),
    z.minLength(1, MESSAGES.required),
    z.refine((text) => text.includes('/') && findCidr(text) !== undefined, {
      error: MESSAGES.subnet,
    }),
  ),
  z.transform((text) => {
    const cidr = findCidr(text)
    return cidr ? formatCidr(cidr) : text
  }),
)

export const ipv4 = z.string().check(z.trim(), z.refine(isIpv4, MESSAGES.ipv4))

/** The name of a network interface of a node, as Linux allows it, of characters that mean nothing to a shell. */
export const interfaceName = z
  .string(missing(MESSAGES.required))
  .check(
    z.trim(),
    z.minLength(1, MESSAGES.required),
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$/, MESSAGES.interfaceName),
  )

/** Where a service runs, seen from its node: an IP address or a name. */
export const backendHost = z.pipe(
  z.string().check(z.trim(), z.maxLength(253)),
  z.pipe(
    z.transform((text: string): string => {
      const ip = findIp(text)
      return ip ? formatIp(ip) : text.toLowerCase()
    }),
    z
      .string()
      .check(z.refine((text) => findIp(text) !== undefined || isHostname(text), MESSAGES.backendHost)),
  ),
)

/** Only A to Z: Unicode's lower case could turn one person's address into another's, as it turns U+212A into a k. */
export function foldEmail(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** An e-mail address as providers send it, in lower case. Any top-level name will do. */
export const email = z
  .string(missing(MESSAGES.required))
  .check(
    z.trim(),
    z.overwrite(foldEmail),
    z.minLength(1, MESSAGES.required),
    z.maxLength(254, MESSAGES.email),
    z.regex(
      /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/,
      MESSAGES.email,
    ),
  )

export const wireGuardKey = z.string().check(z.refine(isWireGuardKey, MESSAGES.wireGuardKey))

/** The public half of a WireGuard key pair. */
export const publicKey = z
  .string()
  .check(
    z.refine(isWireGuardKey, { error: MESSAGES.wireGuardKey, abort: true }),
    z.refine(isPublicKey, MESSAGES.weakKey),
  )

/** A list whose absence, null and emptiness mean the same. */
export function listOf<O, I>(item: z.ZodMiniType<O, I>, max: number) {
  const list = z.array(item).check(z.maxLength(max))
  const nullToEmpty = z.transform((value: unknown) => (value === null || value === '' ? [] : value) as I[])
  return z._default(z.pipe(nullToEmpty as z.ZodMiniType<I[], I[] | null | undefined>, list), [])
}
