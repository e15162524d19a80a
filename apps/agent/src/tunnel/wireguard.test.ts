import type { Exec } from '@postern/host/processes/exec'
import { expect, test } from 'vitest'
import { findTunnelState } from './wireguard.ts'

/** @returns the programs that reading the interface runs */
async function listRun(ifalias?: string): Promise<string[]> {
  const programs: string[] = []
  const run: Exec['run'] = async (program) => {
    programs.push(program)
    const links = [{ ifname: 'postern0', flags: ['UP'], mtu: 1420, ifalias }]
    return { code: 0, stdout: program === 'ip' ? JSON.stringify(links) : '', stderr: '' }
  }
  const unused = () => {
    throw new Error('not used')
  }
  const exec: Exec = { run, startDetached: unused, stream: unused, readFile: unused }
  await findTunnelState(exec, 'postern0').catch(() => undefined)
  return programs
}

test('wg runs only for an interface with our alias, behind which wireguard-go is listening', async () => {
  expect(await listRun()).toEqual(['ip'])
  expect(await listRun('postern-agent:/etc/postern')).toEqual(['ip', 'wg'])
})
