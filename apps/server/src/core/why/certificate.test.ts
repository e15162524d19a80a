import { expect, test } from 'vitest'
import { issueLeaf, issueRoot } from '../../certificates/issue.ts'
import { judgeCertificate } from './certificate.ts'

const NOW = new Date('2026-06-01T00:00:00Z')
const root = await issueRoot('Postern Root', NOW)
const other = await issueRoot('Another Root', NOW)
const leaf = await issueLeaf(root, ['app.example.com', '203.0.113.1'], NOW)

const judge = (
  changes: { name?: string; isKnown?: boolean; isTrusted?: boolean; roots?: string; now?: Date } = {},
) => {
  const {
    name = 'app.example.com',
    isKnown = true,
    isTrusted = false,
    roots = root.certificate,
    now = NOW,
  } = changes
  const sight = { step: 'certificate', served: leaf.certificate, isTrusted, problem: null } as const
  return judgeCertificate(sight, name, isKnown, roots, now.getTime())
}

test('one for the name, that programs trust, is fine', () => {
  expect(judge({ isTrusted: true })).toMatchObject({ state: 'ok', next: null })
  expect(judge({ isTrusted: true }).seen).toMatch(
    /^app\.example\.com has a certificate by Postern.*, valid until 20\d\d-/,
  )
  expect(judge({ isTrusted: true, name: '203.0.113.1' }).state).toBe('ok')
})

test('one of our own authority is told from one of a stranger, and both are a note', () => {
  expect(judge()).toMatchObject({
    state: 'note',
    seen: expect.stringContaining("this installation's own authority"),
  })
  expect(judge({ roots: other.certificate + root.certificate }).seen).toContain('own authority')
  expect(judge({ roots: other.certificate }).seen).toContain('programs do not know by themselves')
})

test('one for another name, or one that has expired, ends the way', () => {
  expect(judge({ name: 'web.example.com' })).toMatchObject({
    state: 'stop',
    seen: 'The certificate that is served is not for web.example.com, but for app.example.com and 1 more.',
    next: 'Look at the certificate of web.example.com on the Domains page.',
  })
  expect(judge({ name: '203.0.113.2' }).state).toBe('stop')
  const late = new Date('2046-06-01T00:00:00Z')
  expect(judge({ isTrusted: true, now: late })).toMatchObject({
    state: 'stop',
    seen: expect.stringContaining('expired on'),
  })
})

test("a name that is nobody's here has no certificate to expect", () => {
  expect(judge({ name: 'stranger.example.org', isKnown: false })).toMatchObject({ state: 'note', next: null })
})

test('what is no certificate, or does not come, ends the way', () => {
  const sight = { step: 'certificate', isTrusted: false } as const
  const of = (served: string | null) =>
    judgeCertificate(
      { ...sight, served, problem: served === null ? 'gone' : null },
      'a.example.com',
      true,
      '',
      0,
    )
  expect(of('nothing')).toMatchObject({ state: 'stop', seen: 'What was served is no certificate.' })
  expect(of(null)).toMatchObject({ state: 'stop', seen: 'No certificate was served: gone.' })
})
