import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright'
import { beforeAll, describe, it } from 'vitest'
import { expect } from './expect.ts'
import type { Site, Visit } from './harness.ts'

/**
 * Checks scenes in both colour schemes, from a wide screen to a narrow one: nothing overflows, no essential text is
 * cut off, nothing is out of a screen reader's reach. With POSTERN_SCREENSHOTS=1 it leaves pictures in test-results/
 * for review, and renews those of the documentation.
 */
const PICTURES = new URL('../../test-results/', import.meta.url).pathname
const DOCUMENTATION = new URL('../../docs/images/', import.meta.url).pathname
const DOCUMENTED = [
  'login-1440-light',
  'nodes-1440-light',
  'node-ready-1440-light',
  'node-1440-light',
  'http-form-1440-light',
  'domains-1440-light',
]
const TAKES_PICTURES = process.env.POSTERN_SCREENSHOTS === '1'
const HEIGHTS = { 1440: 900, 1024: 768, 390: 844, 360: 740 } as const
type Width = keyof typeof HEIGHTS
const SCHEMES = ['light', 'dark'] as const

export interface Scene {
  name: string
  path: () => string
  signedIn?: boolean
  /** Brings the page into the state to look at. */
  act?: (page: Page) => Promise<unknown>
  /** A text whose presence shows that the scene is ready. */
  shows: string
  /** Allowed messages of the browser's console, for a scene where something fails. */
  forgive?: RegExp
}

interface Plan {
  /** Each row is one visit, whose window gets narrower: only the layout changes, so a scene is set up once. */
  widths: readonly (readonly Width[])[]
  /** Widths at which axe runs, too. Between these the layouts are the same, only tighter. */
  axe: readonly Width[]
}

export function lookAt(getSite: () => Site, scenes: readonly Scene[], { widths, axe }: Plan): void {
  describe.each(widths.map((row) => ({ row, title: row.join(' and ') })))('at $title px', ({ row }) => {
    // One page for all scenes of a row: opening one for each takes longer than checking it.
    const visits = new Map<boolean, Visit>()
    beforeAll(async () => {
      for (const signedIn of new Set(scenes.map((scene) => scene.signedIn ?? true)))
        visits.set(signedIn, await getSite().open(signedIn ? '/' : '/login', { signedIn }))
    })

    it.each(scenes)('$name', async (scene) => {
      const visit = visits.get(scene.signedIn ?? true) as Visit // opened above
      const { page } = visit
      visit.complaints.length = 0
      if (scene.forgive) visit.forgive(scene.forgive)
      await narrow(page, row[0])
      await page.goto(`${getSite().origin}${scene.path()}`)
      await scene.act?.(page)
      await page.getByText(scene.shows).filter({ visible: true }).first().waitFor()
      await page.waitForFunction(() => document.fonts.status === 'loaded')
      for (const width of row) {
        await narrow(page, width)
        await lookInBothSchemes(visit, `${scene.name}-${width}`, axe.includes(width))
        // Elements placed by script follow the window a moment later.
        await expect.poll(() => findCut(page)).toEqual([])
        await expect.poll(() => findOffScale(page)).toEqual([])
      }
      visit.expectNoComplaints()
    })
  })
}

async function narrow(page: Page, width: Width = 1440): Promise<void> {
  if (page.viewportSize()?.width === width) return
  await page.setViewportSize({ width, height: HEIGHTS[width] })
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

async function lookInBothSchemes(visit: Visit, name: string, withAxe: boolean): Promise<void> {
  if (!withAxe && !TAKES_PICTURES) return
  for (const colorScheme of SCHEMES) {
    await visit.page.emulateMedia({ colorScheme })
    if (TAKES_PICTURES) await takePicture(visit.page, `${name}-${colorScheme}`)
    // Of axe's checks, only the contrast depends on the colours.
    if (withAxe) await visit.expectAccessible(colorScheme === 'dark' ? ['color-contrast'] : undefined)
  }
}

/** Elements that must be readable to the end. */
const READ =
  'th, td:not(.c-dot), td .mono, dd.mono, .badge, .btn, .field-label label, h1, .secret .input:not(.one-line)'

/** Elements that reach out of the screen, are cut off although they must be read, or wrap although they are short. */
function findCut(page: Page): Promise<string[]> {
  return page.evaluate((read) => {
    const root = document.documentElement
    const wide = root.scrollWidth > window.innerWidth ? [`the page is ${root.scrollWidth} px wide`] : []
    const isCut = (element: Element) => element.scrollWidth > element.clientWidth + 1
    const cut = [...document.querySelectorAll(read)]
      .filter((element) => element.clientWidth > 1 && isCut(element) && !element.closest('[title]'))
      .map((element) => `cut: ${element.textContent}`)
    const broken = [...document.querySelectorAll('td time')]
      .filter((element) => element.getClientRects().length > 1)
      .map((element) => `in several lines: ${element.textContent}`)
    return [...wide, ...cut, ...broken]
  }, READ)
}

/** The type sizes; fields on a narrow screen have the size that keeps phones from zooming in. */
const TYPE_SCALE = [11, 12, 13, 15, 20, 28]
const NARROW_FIELDS = [15, 16]

/** Text whose size is not on the scale, and times and figures whose digits would not line up. */
function findOffScale(page: Page): Promise<string[]> {
  return page.evaluate(
    ({ scale, fields }) => {
      const hasText = (element: Element) =>
        [...element.childNodes].some(
          ({ nodeType, data }: ChildNode & { data?: string }) => nodeType === 3 && data?.trim(),
        )
      return [...document.querySelectorAll('#root *, [data-base-ui-portal] *')].flatMap((element) => {
        const isField = element.matches('input, textarea, select, option')
        if (!isField && !hasText(element)) return []
        const { fontSize, fontVariantNumeric } = getComputedStyle(element)
        const isOn = [...scale, ...(isField ? fields : [])].includes(Number.parseFloat(fontSize))
        const lines = !element.matches('time') || fontVariantNumeric === 'tabular-nums'
        return isOn && lines ? [] : [`${fontSize} ${fontVariantNumeric}: ${element.outerHTML.slice(0, 80)}`]
      })
    },
    { scale: TYPE_SCALE, fields: NARROW_FIELDS },
  )
}

async function takePicture(page: Page, name: string): Promise<void> {
  for (const dir of [PICTURES, DOCUMENTATION]) mkdirSync(dir, { recursive: true })
  const directory = DOCUMENTED.includes(name) ? DOCUMENTATION : PICTURES
  await page.screenshot({ path: `${directory}${name}.png`, animations: 'disabled' })
}
