import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import * as f from '@postern/contract/fields'
import type { DeviceCodes, DeviceProgress } from '@postern/contract/sign-in/device'
import * as z from 'zod/mini'
import type { Context } from '../cli/command.ts'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import { type Api, createApi } from './api.ts'
import type { Server } from './servers.ts'

/** In seconds, whatever a server asks for. */
const LEAST_INTERVAL = 1
const MOST_INTERVAL = 60
const LONGEST = 3600
/** More time between two polls after one that got no answer (RFC 8628, 3.5). */
const AFTER_FAILURE = 5

/**
 * Asks the server for a code, and the person to enter it in a browser, and waits for the answer.
 * @returns an API token of the person
 * @throws AgentError when nobody approves
 */
export async function signInByBrowser(context: Context, server: Omit<Server, 'token'>): Promise<string> {
  const api = createApi({ ...server, token: '' })
  const codes = await begin(api)
  for (const line of invitation(server, codes)) context.io.out(line)
  return await waitForToken(context, api, codes)
}

async function begin(api: Api): Promise<DeviceCodes> {
  try {
    return await api.call(endpoints.beginDevice, { body: { client: nameOfThisMachine() } })
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'not-found') throw error
    throw new AgentError(
      'server-answer',
      `${api.access.url.host} is too old to sign in by a browser. Make an API token in the console, and use --token -`,
    )
  }
}

/** What the person sees in the browser. */
function nameOfThisMachine(): string {
  return z.safeParse(f.name, printable(hostname(), 100)).data ?? 'a machine without a name'
}

function invitation({ url }: Omit<Server, 'token'>, codes: DeviceCodes): string[] {
  const minutes = Math.ceil(Math.min(codes.expires_in, LONGEST) / 60)
  return [
    `To sign in to ${new URL(url).host}, open this address in a browser on any device:`,
    '',
    `  ${printable(codes.verification_uri)}`,
    '',
    'and enter this code there:',
    '',
    `  ${printable(codes.user_code)}`,
    '',
    `It can be used for ${minutes} minutes. Ctrl-C ends the wait`,
  ]
}

async function waitForToken({ now }: Context, api: Api, codes: DeviceCodes): Promise<string> {
  const end = now() + Math.min(codes.expires_in, LONGEST) * 1000
  let interval = codes.interval
  for (;;) {
    const seconds = Math.min(Math.max(interval, LEAST_INTERVAL), MOST_INTERVAL)
    await pause(seconds * 1000)
    if (now() >= end) throw over()
    const progress = await poll(api, codes.device_code)
    switch (progress?.state) {
      case undefined:
        interval += AFTER_FAILURE
        break
      case 'pending':
        break
      case 'slow_down':
        interval = progress.interval
        break
      case 'approved':
        return progress.token
      case 'denied':
        throw new AgentError('not-allowed', 'The sign-in was denied in the browser')
      case 'over':
        throw over()
    }
  }
}

/** Undefined while the server cannot be reached: it may be restarting. */
async function poll(api: Api, device_code: string): Promise<DeviceProgress | undefined> {
  try {
    return await api.call(endpoints.pollDevice, { body: { device_code } })
  } catch (error) {
    const isPassing =
      error instanceof AgentError && (error.code === 'server-unreachable' || error.code === 'server-answer')
    if (!isPassing) throw error
    return undefined
  }
}

const over = () =>
  new AgentError(
    'not-signed-in',
    'Nobody approved the code in time, or the server was restarted. Start again',
  )
