import type { CertificateKind } from '@postern/contract/certificates'
import { expect, test } from 'vitest'
import { type CertificateState, describeCertificate } from './describe.ts'

const DAY = 86_400_000
const NOW = Date.parse('2026-11-22T00:00:00.000Z')
const at = (days: number) => new Date(NOW + days * DAY).toISOString()

const problem = { code: 'dns', detail: 'no such name', found: [], expected: ['203.0.113.1'], at: at(-1) }
const held = (from: number, to: number, kind: CertificateKind = 'certbot'): CertificateState['held'] => ({
  status: 'valid',
  kind,
  issuer: "Let's Encrypt",
  not_before: at(from),
  not_after: at(to),
  error: null,
  updated_at: at(from),
})
const failing = { step: null, due_at: NOW + DAY, problem: JSON.stringify(problem) }
const describe = (over: Partial<CertificateState>) =>
  describeCertificate({ ssl: 'certbot', held: held(-60, 30), order: failing, pause: undefined, ...over }, NOW)

test('a failed renewal leaves the certificate valid, and shows why it failed and when it is tried again', () => {
  expect(describe({})).toMatchObject({
    status: 'valid',
    kind: 'certbot',
    error: 'no such name',
    problem,
    nextTryAt: at(1),
    renewalFailing: false,
  })
})

test.each([
  [-76, 14, true],
  [-75, 15, false],
  // With a lifetime of six days, the last day and a half.
  [-4, 2, false],
  [-5, 1, true],
  [-91, -1, true],
])('issued %i days ago and expiring in %i days, with a failing renewal: warns: %s', (from, to, isWarned) => {
  expect(describe({ held: held(from, to) }).renewalFailing).toBe(isWarned)
  expect(describe({ held: held(from, to), order: { ...failing, problem: null } }).renewalFailing).toBe(false)
})

test('a self-signed one in the meantime does not count as valid', () => {
  const own = held(0, 1, 'self-signed')
  expect(describe({ held: own })).toMatchObject({
    status: 'failed',
    kind: 'self-signed',
    renewalFailing: false,
  })
})
