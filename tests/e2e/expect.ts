import { expect as expectOfPlaywright } from 'playwright/test'

/** Checks a page again until it shows what is expected, so that no test depends on the machine's speed. */
export const expect = expectOfPlaywright.configure({ timeout: 30_000 })
