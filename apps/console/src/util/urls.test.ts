import { expect, it } from 'vitest'
import { domainUrl } from './urls.ts'

it('carries the port of the installation when it is not the usual one', () => {
  expect(domainUrl('a.test', 'https://203.0.113.1')).toBe('https://a.test')
  expect(domainUrl('a.test', 'https://203.0.113.1:443')).toBe('https://a.test')
  expect(domainUrl('a.test', 'https://203.0.113.1:8443')).toBe('https://a.test:8443')
  expect(domainUrl('a.test', undefined)).toBe('https://a.test')
})
