import { readFileSync } from 'node:fs'

/** Clients' share of the process's descriptors: upstreams may need as many, and the rest is for files, the database and threads. */
const CLIENT_SHARE = 3 / 8
/** The most connections, because each costs memory too. */
const MOST = 32_768
/** Descriptors of a process whose limit cannot be read. */
const USUAL_DESCRIPTORS = 10_240

/** The most client connections of this process: a share of its limit of open files (`ulimit -n`). */
export function connectionLimit(share = CLIENT_SHARE): number {
  return Math.min(Math.floor(descriptorLimit() * share), MOST)
}

function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'))!
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return USUAL_DESCRIPTORS
  }
}
