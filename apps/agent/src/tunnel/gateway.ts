import { readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { codeOf } from '@postern/host/errors'
import { findText } from '@postern/host/files'
import type { Exec } from '@postern/host/processes/exec'
import { gatewayTable, renderGatewayTable } from '@postern/net/gateway-table'
import { writePrivate } from '../files.ts'
import { createTable, listChains, listDroppingChains } from './nft.ts'

const FORWARD4 = '/proc/sys/net/ipv4/ip_forward'
const FORWARD6 = '/proc/sys/net/ipv6/conf/all/forwarding'

/**
 * Forwards packets from the tunnel into the networks behind this node, and nothing else.
 * @param mark a file that exists while forwarding is on because of us
 */
export function createGateway(exec: Exec, name: string, mark: string) {
  const table = createTable(exec, gatewayTable(name))
  return {
    /** @returns what did not work, in words */
    async apply(subnets: readonly string[]): Promise<string[]> {
      const problems = await enableForwarding(mark, subnets)
      await table.apply(`${renderGatewayTable(name, subnets).join('\n')}\n`)
      return [...problems, ...(await listForwardProblems(exec, name))]
    },
    async remove(): Promise<void> {
      await table.remove()
      if ((await findText(mark)) === undefined) return
      // Other programs that rely on forwarding have a chain there; switching forwarding off would cut them off.
      if ((await listChains(exec, 'forward')).length === 0) await writeFile(FORWARD4, '0')
      await rm(mark, { force: true })
    },
  }
}

/** @returns what did not work, in words */
async function enableForwarding(mark: string, subnets: readonly string[]): Promise<string[]> {
  const problem4 = await enableForwarding4(mark)
  const problem6 = subnets.some((subnet) => subnet.includes(':')) ? await enableForwarding6() : undefined
  return [problem4, problem6].filter((problem) => problem !== undefined)
}

async function enableForwarding4(mark: string): Promise<string | undefined> {
  if ((await readFile(FORWARD4, 'utf8')).trim() !== '0') return undefined
  await writePrivate(mark, 'on because of postern\n')
  const problem = await trySetting(FORWARD4, '1')
  if (problem) await rm(mark, { force: true })
  return problem
}

async function enableForwarding6(): Promise<string | undefined> {
  if ((await findText(FORWARD6))?.trim() !== '0') return undefined
  // A router ignores router advertisements by default, and would lose its own default route.
  for (const device of readdirSync('/proc/sys/net/ipv6/conf')) {
    const path = `/proc/sys/net/ipv6/conf/${device}/accept_ra`
    const problem = (await findText(path))?.trim() === '1' ? await trySetting(path, '2') : undefined
    if (problem) return problem
  }
  return await trySetting(FORWARD6, '1')
}

/** In a container the kernel's settings can be read, but only set when it is started. */
async function trySetting(path: string, value: string): Promise<string | undefined> {
  try {
    await writeFile(path, value)
    return undefined
  } catch (error) {
    const setting = path.replace('/proc/sys/', '').replaceAll('/', '.')
    return (
      `This gateway forwards nothing until ${setting} is ${value}, which it may not set (${codeOf(error)}). ` +
      'In a container, name it under sysctls'
    )
  }
}

async function listForwardProblems(exec: Exec, name: string): Promise<string[]> {
  const dropping = await listDroppingChains(exec, 'forward', name)
  return dropping.map(
    (chain) =>
      `A firewall on this machine (nftables chain ${chain}) drops forwarded packets unless a rule allows them. ` +
      `Allow packets that come in through ${name}, and their replies`,
  )
}
