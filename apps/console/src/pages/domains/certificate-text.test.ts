import type { Certificate, CertificateProblemCode } from '@postern/contract/certificates'
import { CertificateProblemCode as Codes, OrderStep } from '@postern/contract/certificates'
import type { Domain } from '@postern/contract/domains'
import { expect, test } from 'vitest'
import { formatDate, formatMoment } from '../../util/time.ts'
import { detailText, kindText, problemText, statusOf } from './certificate-text.ts'

const END = '2027-02-14T10:00:00.000Z'
const VALID: Certificate = {
  status: 'valid',
  kind: 'certbot',
  issuer: 'R11',
  notBefore: '2026-11-16T10:00:00.000Z',
  notAfter: END,
  step: null,
  problem: null,
  error: null,
  nextTryAt: null,
  renewalFailing: false,
}

function domain(certificate: Partial<Certificate> = {}, over: Partial<Domain> = {}): Domain {
  const times = { created_at: END, updated_at: END }
  return {
    id: 1,
    domain: 'app.example.com',
    ssl: 'certbot',
    skipValidation: false,
    authentication: false,
    allowedEmails: [],
    edges: null,
    certificate: { ...VALID, ...certificate },
    ...times,
    ...over,
  }
}

function failed(code: CertificateProblemCode, over: Partial<Certificate> = {}): Domain {
  const problem = {
    code,
    detail: 'the words of the authority',
    found: ['198.51.100.9'],
    expected: ['203.0.113.1'],
    at: END,
  }
  return domain({ status: 'failed', kind: 'self-signed', problem, nextTryAt: END, ...over })
}

test('a valid one shows its expiry and its authority', () => {
  expect(kindText(domain())).toBe("Let's Encrypt")
  expect(statusOf(domain())).toEqual({ kind: 'ok', text: 'Valid' })
  expect(detailText(domain())).toBe(`until ${formatDate(END)}, by R11`)
  expect(detailText(domain({ step: 'validating' }))).toContain(
    'renewing: the authority is checking the domain',
  )
  const own = domain({ kind: 'self-signed', issuer: 'Postern Root 0a' }, { ssl: null, skipValidation: true })
  expect(kindText(own)).toBe('Self Signed')
  expect(statusOf(own)).toEqual({ kind: 'mute', text: 'Valid' })
  expect(detailText(own)).toBe(`until ${formatDate(END)}, by Postern Root 0a, validation skipped`)
})

test.each(OrderStep.options)('a pending one shows the step %s', (step) => {
  const pending = domain({ status: 'pending', kind: 'self-signed', step })
  expect(statusOf(pending)).toEqual({ kind: 'info', text: 'Pending' })
  expect(detailText(pending)).toMatch(/^[a-z ]{10,}$/)
  expect(problemText(pending)).toBeUndefined()
})

test.each(Codes.options)("a failed one (%s) shows the authority's message, and what helps", (code) => {
  expect(statusOf(failed(code))).toEqual({ kind: 'bad', text: 'Failed' })
  const words = problemText(failed(code)) ?? ''
  expect(words).toMatch(/^the words of the authority\. /)
  expect(words).toContain(`Next try: ${formatMoment(END)}.`)
})

test('one that failed because of DNS shows the records, and where the name should point', () => {
  expect(problemText(failed('dns', { nextTryAt: null }))).toBe(
    'the words of the authority. DNS has 198.51.100.9 for it. Point it to 203.0.113.1.',
  )
})

test('one that is tried again shows its step, and the previous failure', () => {
  const again = failed('unreachable', { step: 'validating', nextTryAt: null })
  expect(detailText(again)).toBe('trying again: the authority is checking the domain')
  expect(problemText(again)).not.toContain('Next try')
})

test('one that waits because all orders at the authority wait shows why and until when', () => {
  const waiting = failed('rate-limit', { status: 'pending', step: 'queued' })
  expect(statusOf(waiting)).toEqual({ kind: 'info', text: 'Pending' })
  expect(detailText(waiting)).toBe('waiting for the authority')
  expect(problemText(waiting)).toBe(`the words of the authority. Next try: ${formatMoment(END)}.`)
})

test('one whose renewal fails shows a warning while it is still valid', () => {
  const ending = failed('caa', { status: 'valid', kind: 'certbot', renewalFailing: true })
  expect(statusOf(ending)).toEqual({ kind: 'warn', text: 'Expires soon' })
  expect(detailText(ending)).toContain('until')
})
