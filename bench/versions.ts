import { type Checkout, checkOut, thisCheckout } from './checkout.ts'
import type { Place } from './place.ts'
import { directTo, type Subjects, startGateway } from './subjects.ts'

/** The names of the subjects. The old version serves twice, to show how much one and the same code differs. */
export const VERSIONS = { old: 'old', new: 'new', again: 'old-again' } as const

/** Two versions that serve. */
export interface StartedVersions {
  readonly subjects: Subjects
  /** The short ids of their commits. */
  readonly old: string
  readonly new: string
}

/** Starts this checkout, and a commit twice, with the same settings before the same upstream, and pauses each that serves. */
export async function startVersions(commit: string, place: Place, upstream: number): Promise<StartedVersions> {
  const [next, old] = [await thisCheckout(place), await checkOut(commit, place)]
  const start = async (name: string, { version, folder }: Checkout) => {
    try {
      const { subject, service } = await startGateway(place, upstream, { name, folder })
      service.pause()
      return { ...subject, peer: service }
    } catch (error) {
      place.processes.stopping.throwIfAborted()
      throw new Error(`${version} cannot be measured with this checkout's bench/routes.yaml: ${(error as Error).message}`)
    }
  }
  // The new one in the middle: a machine that slows steadily slows it as much as the mean of the old one.
  const all = [await start(VERSIONS.old, old), await start(VERSIONS.new, next), await start(VERSIONS.again, old)] as const
  return { subjects: { direct: directTo(upstream), all, key: all[1].key }, old: old.version, new: next.version }
}
