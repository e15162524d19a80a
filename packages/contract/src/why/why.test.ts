import { expect, test } from 'vitest'
import { renderWhy, type Why } from './why.ts'

test('the text of a trace holds no command for a terminal, and no line of somebody else', () => {
  const seen = 'It says \u001b]52;c;cm0gLXJm\u0007 \u009b2J\nResult: Visitors get an answer'
  const why: Why = {
    ...{ id: 1, address: 'https://app.example.com/', visitor: null, begunAt: '2026-11-27T10:00:00.000Z' },
    ...{ state: 'stopped', service: null },
    steps: [{ step: 'certificate', state: 'stop', seen, next: null, at: null }],
  }
  const text = renderWhy(why)
  expect(text).not.toMatch(/[^\P{C}\n]/u)
  expect(text.match(/^Result: /gm)).toHaveLength(1)
})
