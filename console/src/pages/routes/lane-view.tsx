import { Anchor, Badge, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Credential } from '../../api/operations.ts'
import { exactly, percent } from '../../ui/numbers.ts'
import { StatusLabel } from '../../ui/status-label.tsx'
import { Connector } from './connector.tsx'
import { DiscoveryFailure, Evidence } from './evidence.tsx'
import { HealthLabel } from './health-label.tsx'
import styles from './lane-view.module.css'
import type { Lane, LaneEnd } from './lanes.ts'

/** Aliases and models of a lane: the others are told by their number. */
const SHOWN = 20

/** One lane: its aliases, its name and its ends. */
export function LaneView({ lane }: { readonly lane: Lane }) {
  const { name, aliases, dormant, ends } = lane
  return (
    <section className={styles.lane} data-dormant={dormant !== undefined || undefined} aria-label={name}>
      <div className={styles.aliases}>
        {aliases.slice(0, SHOWN).map((alias) => (
          <Badge key={alias} variant="default" tt="none" fw={500}>
            {alias}
          </Badge>
        ))}
        {aliases.length > SHOWN && (
          <Text size="xs" c="dimmed" span>
            and {exactly(aliases.length - SHOWN)} more
          </Text>
        )}
      </div>
      <span className={styles.arrow} aria-hidden="true">
        {aliases.length > 0 && '→'}
      </span>
      <LaneName lane={lane} />
      <Connector ends={ends} />
      <ol className={styles.ends}>
        {ends.map((end) => (
          <li key={`${end.kind} ${end.name}`} className={styles.end} data-kind={end.kind}>
            <End end={end} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function LaneName({ lane: { name, line, dormant, models, credentials, discoveryError } }: { readonly lane: Lane }) {
  return (
    <div className={styles.name}>
      <Text size="sm" fw={600} truncate title={name}>
        {name}
      </Text>
      {models.length > 0 && (
        <Text size="xs" c="dimmed" lineClamp={2}>
          Only {models.slice(0, SHOWN).join(', ')}
          {models.length > SHOWN && ` and ${exactly(models.length - SHOWN)} more`}
        </Text>
      )}
      {credentials.length > 0 && (
        <ul className={styles.credentials} aria-label={`Credentials of ${name}`}>
          {credentials.map((credential) => (
            <li key={credential.name}>
              <CredentialState credential={credential} />
            </li>
          ))}
        </ul>
      )}
      {discoveryError !== undefined && <DiscoveryFailure error={discoveryError} />}
      {dormant !== undefined && (
        <Text size="xs" c="dimmed" lineClamp={2}>
          Dormant: {dormant}
        </Text>
      )}
      <Anchor component={Link} to={`/config?line=${line}`} size="xs" aria-label={`${name} in routes.yaml, line ${line}`}>
        Line {line}
      </Anchor>
    </div>
  )
}

/** A credential by its name: its value is a secret. */
function CredentialState({ credential: { name, cooldown_seconds } }: { readonly credential: Credential }) {
  const cools = cooldown_seconds > 0
  return (
    <Text size="xs" component="span">
      <StatusLabel tone={cools ? 'warning' : 'good'}>
        {name}: {cools ? `refused, cooling down for ${cooldown_seconds} s` : 'available'}
      </StatusLabel>
    </Text>
  )
}

function End({ end: { name, kind, share, health, lastCall, ...evidence } }: { readonly end: LaneEnd }) {
  return (
    <>
      <div className={styles.endName}>
        <Text size="sm" truncate title={name}>
          {name}
        </Text>
        <Evidence {...evidence} />
      </div>
      <Text size="xs" c="dimmed" className={styles.share}>
        {kind === 'fallback' ? 'Fallback' : kind === 'provider' ? 'Provider' : share !== undefined && percent(share, 1)}
      </Text>
      {health !== undefined && <HealthLabel health={health} lastCall={lastCall} />}
    </>
  )
}
