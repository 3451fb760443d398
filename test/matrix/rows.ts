import { execFileSync } from 'node:child_process'
import { doTask, getsThoughtBack, tasksOf, titleOfTask } from '../e2e/clients/cases.ts'
import { type Client, type Gateway, packageIn, type Version } from '../e2e/clients/client.ts'
import { CLIENTS } from '../e2e/clients/clients.ts'
import { AGENTS, type CodingAgent, finishTask } from '../e2e/clients/coding-agents.ts'
import type { ScriptedModel } from '../e2e/clients/fixture.ts'
import { versionOf } from '../e2e/clients/python-clients.ts'
import { CHAT_ONLY, type Protocol, VENDORS, type Vendor } from '../e2e/clients/vendors.ts'
import { find, type RequirementName } from '../support/requirements.ts'

/** What a client has done by a model. */
export interface Done {
  /** What did not work, and why; empty if all did. */
  readonly failures: readonly string[]
  /** With the results of tools it has not sent back what the model thought before the calls, though the upstream wants it. */
  readonly forgets: boolean
}

/** A client of a protocol: a row of the matrix. */
export interface Row {
  readonly name: string
  readonly protocol: Protocol
  /** The version of Anthropic's API that it speaks. */
  readonly version?: Version
  /** What it needs beside npm. */
  readonly needs?: RequirementName
  /** The version of its package or program. */
  packageVersion(gateway: Gateway): Promise<string>
  /** Does all that it can do by a model. */
  use(gateway: Gateway, model: ScriptedModel): Promise<Done>
}

/** The upstreams: the columns of the matrix. */
export const COLUMNS: readonly Vendor[] = [...VENDORS, CHAT_ONLY]

/** The clients, each with the protocol that it speaks. */
export const ROWS: readonly Row[] = [...CLIENTS.map(rowOfLibrary), ...AGENTS.map(rowOfAgent)]

function rowOfLibrary(client: Client): Row {
  const { name, protocol, version, python, package: folder } = client
  return {
    name,
    protocol,
    ...(version && { version }),
    ...(python && { needs: python }),
    packageVersion: async (gateway) => (folder === undefined ? await versionOf(gateway, client) : packageIn(folder).version),
    async use(gateway, model) {
      const failures: string[] = []
      let forgets = false
      for (const task of tasksOf(client)) {
        const failure = await failureOf(doTask(client, task, gateway, model))
        if (failure !== undefined) failures.push(`${titleOfTask(task)}: ${failure}`)
        else if (task === 'loop' || task === 'streamedLoop')
          forgets ||= getsThoughtBack(model.vendor, protocol, model.asked[1]!) === false
      }
      return { failures, forgets }
    },
  }
}

function rowOfAgent(agent: CodingAgent): Row {
  const { name, protocol, version, program } = agent
  return {
    name,
    protocol,
    ...(version && { version }),
    needs: program,
    packageVersion: async () => /\d[\w.-]*/.exec(execFileSync(find(program)!, ['--version'], { encoding: 'utf8' }))![0],
    async use(gateway, model) {
      let forgets = false
      const task = finishTask(agent, gateway, model).then(([, withResult]) => {
        forgets = getsThoughtBack(model.vendor, protocol, withResult!) === false
      })
      const failure = await failureOf(task)
      return { failures: failure === undefined ? [] : [failure], forgets }
    },
  }
}

/** Milliseconds after which a task has failed. */
const PATIENCE_MS = 330_000

/** Why a task fails, in one line; undefined if it does not. */
async function failureOf(task: Promise<unknown>): Promise<string | undefined> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`takes longer than ${PATIENCE_MS / 1000} s`)), PATIENCE_MS)
  try {
    await Promise.race([task, late.promise])
    return undefined
  } catch (error) {
    return String((error as Error).message)
      .trim()
      .split('\n')
      .at(-1)!
  } finally {
    clearTimeout(timer)
  }
}
