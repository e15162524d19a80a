import { expect, test } from 'vitest'
import { environmentOf, readSettings } from './environment.ts'

const root = { isRoot: true, isLinux: true, missingCapabilities: [] }
const person = { ...root, isRoot: false }

test('without root the data directory is below the home directory', () => {
  expect(readSettings({}, root).POSTERN_DATA_DIR).toBe('/var/lib/postern')
  expect(readSettings({}, person).POSTERN_DATA_DIR).toMatch(/\/\.local\/share\/postern$/)
  expect(readSettings({ POSTERN_DATA_DIR: '/srv/p' }, person).POSTERN_DATA_DIR).toBe('/srv/p')
})

test('programs get their own settings and the search path, and nothing else', () => {
  const environment = {
    PATH: '/bin',
    POSTERN_HTTP_PORT: '8080',
    POSTERN_ADMIN_PASSWORD: 'a-secret-word',
    POSTERN_OIDC_CLIENT_SECRET: 'another',
    POSTERN_ACME_EAB_HMAC: 'a-third',
    POSTERN_LOG_LEVEL: '',
    AWS_SECRET_ACCESS_KEY: 'x',
    NODE_OPTIONS: '--inspect',
  }
  const common = {
    NODE_ENV: 'production',
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '32768',
    PATH: '/bin',
    POSTERN_HTTP_PORT: '8080',
  }
  expect(environmentOf('edge', environment, root)).toEqual(common)
  expect(environmentOf('server', environment, root)).toEqual({
    ...common,
    POSTERN_OIDC_CLIENT_SECRET: 'another',
    POSTERN_ACME_EAB_HMAC: 'a-third',
  })
})
