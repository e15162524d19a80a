import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageNames, renderPage } from '@postern/render/haproxy/pages'
import { expect, test } from 'vitest'
import { renderNotice } from '../apps/server/src/http/notice.ts'

const TOKENS = readFileSync(join(import.meta.dirname, '../apps/console/src/styles/tokens.css'), 'utf8')

const coloursOf = (text: string) => new Set(text.match(/#[0-9a-f]{3,8}\b/g))

test("the pages that visitors see have the console's colours", () => {
  const own = coloursOf(TOKENS)
  const pages = [
    ...pageNames.map((name) => renderPage(name, { publicHost: '203.0.113.1', httpsPort: 443 })),
    renderNotice({ title: 'Title', text: ['Words'] }),
  ]
  const colours = pages.flatMap((page) => [...coloursOf(page)])
  expect(colours.length).toBeGreaterThan(pages.length * 8)
  expect(colours.filter((colour) => !own.has(colour))).toEqual([])
})
