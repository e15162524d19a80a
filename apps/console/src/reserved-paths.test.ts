import { RESERVED_PATHS } from '@postern/contract/services'
import { expect, test } from 'vitest'
import { routePaths } from './util/urls.ts'

test.each(Object.values(routePaths))('no service can take the page %s', (path) => {
  const [, first = ''] = path.split('/')
  // The root itself is refused by a rule of its own.
  if (first !== '') expect(RESERVED_PATHS).toContain(first)
  else expect(path).toBe('/')
})
