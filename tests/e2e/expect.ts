import { expect as expectOfPlaywright } from 'playwright/test'

/** Asks a page again until it shows what is expected: no test depends on how fast the machine is. */
export const expect = expectOfPlaywright.configure({ timeout: 30_000 })
