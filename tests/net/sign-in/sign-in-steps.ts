import { readFileSync } from 'node:fs'
import type { Host } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import type { Page } from 'playwright'

/** On loopback of the server's host. */
export const ISSUER = 'http://127.0.0.1:9300'

/** Fills in the issuer's forms. */
export async function passIssuer(page: Page, account: string): Promise<void> {
  await page.waitForURL(`${ISSUER}/**`)
  await page.locator('input[name=login]').fill(account)
  await page.locator('input[name=password]').fill('x')
  await page.locator('button[type=submit]').click()
  // Consent is not asked for again.
  const consent = page.locator('input[name=prompt][value=consent]')
  await consent.or(page.locator('body:not(:has(form))')).first().waitFor({ state: 'attached' })
  if ((await consent.count()) > 0) await page.locator('button[type=submit]').click()
}

const HEARER = `
const { createServer } = require('node:net')
const answer = 'HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\nConnection: close\\r\\n\\r\\nHello'
createServer((visitor) =>
  visitor.on('error', () => {}).on('data', (bytes) => {
    process.stdout.write(bytes)
    visitor.end(answer)
  })
).listen(Number(process.argv[1]), '127.0.0.1')`

/**
 * A program on a loopback port that answers every request.
 * @returns everything that it has received
 */
export async function startHearer(host: Host, dir: string, port: number): Promise<() => string> {
  const program = [process.execPath, '-e', HEARER, String(port)]
  await startListening(host, program, dir, 'hearer', port)
  return () => readFileSync(`${dir}/hearer-${host.name}.log`, 'utf8')
}

/** A callback as the issuer sends it, with a code that it never issued. */
export const strangeEnd = (state: string) => new URLSearchParams({ code: 'strange', state, iss: ISSUER })

/** The number at a time. */
const STRANGE = 50
const MOST_ROUNDS = 200

/**
 * A host that begins sign-ins endlessly, and ends each with a code that the provider never issued, and again with a
 * state that the server did not seal.
 */
export function endStrangeSignIns(host: Host, site: string, callback: string) {
  const curl = async (what: string, urls: string[]) => {
    const place = ['--resolve', `${new URL(site).host}:443:${new URL(callback).host}`]
    const all = urls.flatMap((url) => ['-o', '/dev/null', url])
    const options = ['-skZ', '-m', '20', '--parallel-max', String(STRANGE), '-w', `%{${what}}\\n`]
    const { stdout } = await host.run('curl', ...options, ...place, ...all)
    return stdout.split('\n')
  }
  const endsOf = (begun: string) => {
    const state = new URL(begun).searchParams.get('state') ?? ''
    const turned = [...state].reverse().join('')
    return [state, turned].map((each) => `${callback}?${strangeEnd(each)}`)
  }
  const statuses: string[] = []
  let isOver = false
  const run = async () => {
    for (let round = 0; round < MOST_ROUNDS && !isOver; round++) {
      const begin = Array.from({ length: STRANGE }, (_, at) => `${site}/.postern/sign-in?to=/${at}`)
      const begun = (await curl('redirect_url', begin)).filter((line) => URL.canParse(line))
      statuses.push(...(await curl('http_code', begun.flatMap(endsOf))))
    }
  }
  const ended = run()
  return {
    /** The statuses of the callbacks so far. */
    statuses,
    async stop() {
      isOver = true
      await ended
    },
  }
}
