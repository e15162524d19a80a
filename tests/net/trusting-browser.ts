import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Namespace } from '@postern/testkit/lab/namespace'
import { must } from '@postern/testkit/processes/exec'
import { type Browser, chromium } from 'playwright'

interface Options {
  host: Namespace
  /** Becomes the person's home directory. */
  dir: string
  /** The authority's root certificate, as PEM. */
  root: string
  /** The address of all names below `.test`. */
  address: string
}

/** A browser on the visitor's host that trusts the authority, as all browsers trust a public one. */
export async function startTrustingBrowser({ host, dir, root, address }: Options): Promise<Browser> {
  const store = join(dir, '.pki/nssdb')
  const file = join(dir, 'root.pem')
  mkdirSync(store, { recursive: true })
  writeFileSync(file, root)
  await must(['certutil', '-d', `sql:${store}`, '-N', '--empty-password'])
  await must(['certutil', '-d', `sql:${store}`, '-A', '-t', 'C,,', '-n', 'pebble', '-i', file])
  const program = join(dir, 'chromium')
  writeFileSync(program, `#!/bin/sh\nexec ${host.argv('/usr/bin/chromium').join(' ')} "$@"\n`)
  chmodSync(program, 0o755)
  return chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP *.test ${address}`],
    env: { ...process.env, HOME: dir },
  })
}

/** @returns the text of the page, or the browser's error, such as `ERR_CERT_AUTHORITY_INVALID`, if it does not load */
export async function visit(browser: Browser, url: string): Promise<string> {
  const page = await (await browser.newContext()).newPage()
  try {
    await page.goto(url)
    return await page.innerText('body')
  } catch (error) {
    return String(error)
  } finally {
    await page.context().close()
  }
}
