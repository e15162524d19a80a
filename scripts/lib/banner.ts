import type { DataPlane } from '@postern/contract/edge/edge'
import { installationPaths } from '@postern/contract/installation'
import type { Settings } from '@postern/contract/settings/settings'
import { printable } from './command.ts'

export interface Banner {
  version: string
  publicUrl: string
  /** Where this machine has console and data; absent in a container, where neither is on the machine. */
  here?: { console: string; dataDir: string } | undefined
  /** Only on the first start, and only when no password was given. */
  generatedAdmin?: { username: string; password: string } | undefined
  /** Why no edge runs here; absent when one runs. */
  obstacle?: string | undefined
}

/** The console on this machine: its port or, where another program holds that, the socket that only root can open. */
export function consoleHere(
  { POSTERN_CONSOLE_PORT, POSTERN_DATA_DIR }: Settings,
  isPortFree: boolean,
): string {
  if (isPortFree) return `http://127.0.0.1:${POSTERN_CONSOLE_PORT}/`
  const { consoleSocket } = installationPaths(POSTERN_DATA_DIR)
  return `${consoleSocket} (port ${POSTERN_CONSOLE_PORT} is taken by another program)`
}

const line = (label: string, text: string) => `  ${label.padEnd(11)} ${printable(text)}`

export function renderBanner(banner: Banner): string {
  const { here } = banner
  const admin = banner.generatedAdmin
  const lines = [
    `Postern ${banner.version} is running.`,
    '',
    ...(banner.obstacle ? [] : [line('Console', `${banner.publicUrl}/`)]),
    ...(here ? [line(banner.obstacle ? 'Console' : '', here.console)] : []),
    ...(admin
      ? [line('Username', admin.username), line('Password', `${admin.password}  (shown only now)`)]
      : []),
    ...(here ? [line('Data', here.dataDir)] : []),
    ...(banner.obstacle ? [line('Data plane', `not running: ${banner.obstacle}`)] : []),
  ]
  return `${lines.join('\n')}\n`
}

/** One line when everything works, else one line for each part. @param dataPlane null: not known yet */
export function renderDataPlane(dataPlane: DataPlane | null): string {
  if (!dataPlane)
    return `${line('Data plane', 'still waiting for the server; the console shows when it runs')}\n`
  const parts = Object.values(dataPlane)
  if (parts.every(({ state }) => state === 'ok'))
    return `${line('Data plane', parts.map(({ detail }) => detail).join(', '))}\n`
  const label = { ok: 'ok', failed: 'FAILED', missing: 'MISSING' }
  const rows = Object.entries(dataPlane).map(
    ([name, { state, detail }]) => `${name} ${label[state]}: ${detail}`,
  )
  return `${rows.map((row, index) => line(index === 0 ? 'Data plane' : '', row)).join('\n')}\n`
}

export const renderHint = (withEdge: boolean) =>
  withEdge
    ? '\nCtrl-C stops server and edge; traffic continues. `npm stop` ends the traffic too.\n'
    : '\nCtrl-C stops the server.\n'
