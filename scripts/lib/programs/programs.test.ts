import { expect, test } from 'vitest'
import { formatLogLine } from './programs.ts'

test.each([
  ['{"level":30,"msg":"GET /api"}', undefined],
  [
    '{"level":40,"msg":"a listener failed","err":{"message":"no route"}}',
    'edge: warning: a listener failed: no route',
  ],
  ['{"level":50,"msg":"no route","err":{"message":"no route"}}', 'edge: error: no route'],
  ['POSTERN_HTTP_PORT must be a port', 'POSTERN_HTTP_PORT must be a port'],
  [
    '{"level":50,"msg":"a\\u001b]0;x\\u0007b\\u009b2J","err":{"message":"\\u202ec\\r\\n"}}',
    'edge: error: a ]0;x b 2J:  c  ',
  ],
  ['\u001b[2Jgone', ' [2Jgone'],
  ['{"level":', '{"level":'],
  ['{"no":"level"}', '{"no":"level"}'],
  ['', undefined],
])('%s', (line, text) => {
  expect(formatLogLine('edge', line)).toBe(text)
})
