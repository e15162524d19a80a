import { expect, test } from 'vitest'
import { haproxyPaths } from '../options.ts'
import { renderCertificateList, renderPem } from './certificates.ts'

const block = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`
const CHAIN = block('CERTIFICATE', 'MIIB+/==')
const KEY = block('PRIVATE KEY', 'MIGH')

test('the chain and the key, in one spelling', () => {
  const chain = `Bag Attributes: x\r\n${CHAIN.replaceAll('\n', '\r\n')}\n\n${CHAIN}`
  expect(renderPem({ id: 1, domains: [], chain, privateKey: KEY })).toBe(CHAIN + CHAIN + KEY)
})

test.each(['\0', '\n', '\0\nset map x y z\n', ';disable frontend https\n', '\u000b', '\u2028', '<<'])(
  'nothing but PEM reaches the socket: %j',
  (text) => {
    const [begin = '', ...rest] = CHAIN.split('\n')
    const inside = [begin, text, ...rest].join('\n')
    for (const chain of [text + CHAIN, CHAIN + text, inside])
      expect(renderPem({ id: 1, domains: [], chain, privateKey: KEY })).toMatch(
        /^(-----BEGIN [A-Z ]+-----\n([A-Za-z0-9+/=]+\n)+-----END [A-Z ]+-----\n)+$/,
      )
  },
)

test('the list names files and names, but for the own one and those without names', () => {
  const paths = haproxyPaths('/d')
  const one = { id: 3, domains: ['a.example.com', 'b.example.com'], chain: '', privateKey: '' }
  const list = [{ ...one, id: 0 }, one, { ...one, id: 4, domains: [] }]
  expect(renderCertificateList(list, paths)).toBe('/d/certs/3.pem a.example.com b.example.com\n')
  const evil = { ...one, domains: ['a b', 'ok.example.com', '[x'] }
  expect(renderCertificateList([evil], paths)).toBe('/d/certs/3.pem ok.example.com\n')
})
