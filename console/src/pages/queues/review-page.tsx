import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { ComboField } from '../../components/combo-field.tsx';
import { CheckField, TextArea } from '../../components/fields.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, ErrorState, Loading, QueryState } from '../../components/states.tsx';
import { formatNumber, formatTime } from '../../format.ts';
import { isNotFound } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { keysAreOn, setKeysOn } from '../../shell/single-keys.ts';
import { additionInWords } from '../datasets/addition.ts';
import { datasetNamesQuery } from '../evaluations/queries.ts';
import { definitionsQuery, keyedChoicesOf, type ValueType } from '../scores/score-value.ts';
import type { ScoreDefinition } from '../scores/types.ts';
import { PAIR_ANSWERS, PairView } from './pair.tsx';
import { queueQuery } from './queries.ts';
import { EMPTY_DRAFT, type ReviewDraft, toComplete } from './review-draft.ts';
import { ReviewScore } from './review-score.tsx';
import { reviewRoute } from './routes.ts';
import { ContentView, SubjectLink, useContent } from './subject.tsx';
import type { Queue, QueueItem } from './types.ts';
import { leaseEndOf, useReview } from './use-review.ts';
import { useReviewKeys } from './use-review-keys.ts';
import './queues.css';

export function ReviewPage() {
  const { _splat: name = '' } = reviewRoute.useParams();
  const queue = useQuery(queueQuery(name));
  const definitions = useQuery(definitionsQuery);
  return (
    <>
      <PageHead
        title={`Review of ${name}`}
        crumbs={[
          <Link key="list" to="/queues">
            Queues
          </Link>,
          <Link key="queue" to="/queues/$" params={{ _splat: name }}>
            {name}
          </Link>,
        ]}
        note={queue.data && <Note queue={queue.data} />}
      />
      {isNotFound(queue.error) ? (
        <EmptyState title="There is no such queue">
          <Link to="/queues" className="button">
            Back to queues
          </Link>
        </EmptyState>
      ) : (
        <QueryState query={queue} what="the queue">
          {(found) => (
            <QueryState query={definitions} what="the names of scores">
              {({ data }) => <Reviewing key={name} queue={found} definitions={data} />}
            </QueryState>
          )}
        </QueryState>
      )}
    </>
  );
}

function Note({ queue: { description, progress } }: { queue: Queue }) {
  const { pending, leased, completed, skipped } = progress;
  return (
    <>
      {description !== null && <p>{description}</p>}
      <p className="muted">
        {formatNumber(completed)} of {formatNumber(pending + leased + completed + skipped)} completed
      </p>
    </>
  );
}

type Review = ReturnType<typeof useReview>;

function Reviewing({ queue, definitions }: { queue: Queue; definitions: readonly ScoreDefinition[] }) {
  const review = useReview(queue.name);
  const mayScore = useMay('score');
  const mayWrite = useMay('write');
  // Input for an item is kept until the page is left, even if another one is shown in between.
  const [drafts, setDrafts] = useState<Record<string, ReviewDraft>>({});
  const [dataset, setDataset] = useState('');
  const { item, error, busy, take, canUndo, undo } = review;
  const undoButton = (
    <Button disabled={busy || !canUndo} onClick={() => void undo()}>
      Undo <kbd>u</kbd>
    </Button>
  );
  if (!mayScore && !mayWrite) return <p className="notice">To review, a key needs the scope “score” or “write”.</p>;
  if (item === undefined)
    return error === undefined ? (
      <Loading what="the next item" />
    ) : (
      <ErrorState error={error} onRetry={() => void take()} />
    );
  if (item === null) return <NothingLeft review={review} undoButton={undoButton} />;
  return (
    <Item
      key={item.id}
      item={item}
      queue={queue}
      definitions={definitions}
      review={review}
      draft={drafts[item.id] ?? EMPTY_DRAFT}
      onDraft={(part) => {
        setDrafts((all) => ({ ...all, [item.id]: { ...(all[item.id] ?? EMPTY_DRAFT), ...part } }));
        review.renew();
      }}
      dataset={dataset}
      onDataset={setDataset}
      undoButton={undoButton}
    />
  );
}

function NothingLeft({ review: { error, busy, take, undo }, undoButton }: { review: Review; undoButton: ReactNode }) {
  useReviewKeys(keysAreOn(), { undo: () => void undo() });
  return (
    <EmptyState title="Nothing is left for you">
      <p>Items under review by others may become available again.</p>
      {error !== undefined && <ErrorState error={error} />}
      <div className="row">
        <Button disabled={busy} onClick={() => void take()}>
          Check again
        </Button>
        {undoButton}
      </div>
    </EmptyState>
  );
}

interface ItemProps {
  item: QueueItem;
  queue: Queue;
  definitions: readonly ScoreDefinition[];
  review: Review;
  draft: ReviewDraft;
  onDraft: (part: Partial<ReviewDraft>) => void;
  dataset: string;
  onDataset: (dataset: string) => void;
  undoButton: ReactNode;
}

function Item({ item, queue, definitions, review, draft, onDraft, dataset, onDataset, undoButton }: ItemProps) {
  const { score_names: names } = queue;
  const content = useContent(item.subject);
  const isPair = item.other !== undefined;
  const other = useContent(item.other ?? {});
  const mayWrite = useMay('write');
  const datasets = useQuery({ ...datasetNamesQuery, enabled: mayWrite }).data?.data ?? [];
  const existing = datasets.find(({ name }) => name === dataset.trim());
  const heading = useRef<HTMLHeadingElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const [active, setActive] = useState(0);
  const [keys, setKeys] = useState(keysAreOn);
  const typeOf = (name: string): ValueType =>
    isPair ? PAIR_ANSWERS : (definitions.find((each) => each.name === name) ?? { data_type: 'numeric' });
  // Lets screen readers announce the next item.
  useEffect(() => heading.current?.focus(), []);

  const body = toComplete(draft, names, typeOf, dataset);
  const canComplete = (body.scores?.length ?? 0) > 0 || body.correction !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (canComplete) void review.complete(item.id, body);
  };
  const setValue = (index: number, value: string) => {
    const values = { ...draft.values, [names[index] ?? '']: value };
    onDraft({ values });
    const open = names.findIndex((name) => (values[name] ?? '') === '');
    setActive(open === -1 ? index : open);
  };
  const correct = () => {
    if (mayWrite && draft.correction === undefined) onDraft({ correction: content?.output ?? '' });
  };
  useReviewKeys(keys, {
    digit(key) {
      const name = names[active];
      if (name === undefined) return false;
      const choices = keyedChoicesOf(typeOf(name));
      const chosen = choices?.find((choice) => choice.key === key);
      if (chosen !== undefined) setValue(active, chosen.value);
      // The key then becomes input of the field.
      if (choices === undefined)
        form.current?.querySelector<HTMLElement>(`[data-score="${active}"] :is(input, textarea)`)?.focus();
      return chosen !== undefined;
    },
    ...(isPair && { choose: (which) => setValue(active, which) }),
    complete: () => form.current?.requestSubmit(),
    skip: () => void review.skip(item.id),
    undo: () => void review.undo(),
    correct,
    leaveField: () => heading.current?.focus(),
  });
  return (
    <div className={isPair ? 'stack' : 'columns'}>
      <section className="stack" aria-labelledby="item">
        <h2 id="item" ref={heading} tabIndex={-1}>
          {isPair ? 'Which output is better?' : <SubjectLink subject={item.subject} />}
        </h2>
        {isPair ? <PairView first={content} second={other} /> : <ContentView content={content} />}
      </section>
      <form
        ref={form}
        className={isPair ? 'card review pair' : 'card review'}
        aria-label="Scores of this item"
        onSubmit={submit}
      >
        {names.map((name, index) => (
          <ReviewScore
            key={name}
            name={name}
            index={index}
            type={typeOf(name)}
            description={definitions.find((each) => each.name === name)?.description ?? null}
            active={keys && index === active}
            value={draft.values[name] ?? ''}
            onChange={(value) => setValue(index, value)}
            onActive={() => setActive(index)}
          />
        ))}
        <TextArea
          label="Comment"
          rows={2}
          maxLength={2000}
          value={draft.comment}
          onChange={(comment) => onDraft({ comment })}
          hint={names.length > 1 ? 'It is stored with each score.' : undefined}
        />
        {mayWrite && draft.correction === undefined && (
          <div>
            <Button onClick={correct}>
              Correct the output… <kbd>c</kbd>
            </Button>
          </div>
        )}
        {draft.correction !== undefined && (
          <fieldset className="stack">
            <legend className="visually-hidden">Correction</legend>
            <TextArea
              label="What the output should have been"
              rows={6}
              autoFocus
              value={draft.correction}
              onChange={(correction) => onDraft({ correction })}
            />
            <ComboField
              label="Dataset"
              required
              spellCheck={false}
              options={datasets.map((each) => each.name)}
              value={dataset}
              onChange={onDataset}
              hint={
                existing
                  ? additionInWords(existing, 1)
                  : 'The correction becomes an example in the next version of the dataset, which is created if it does not exist.'
              }
            />
            <div>
              <Button look="small" onClick={() => onDraft({ correction: undefined })}>
                No correction
              </Button>
            </div>
          </fieldset>
        )}
        <Problem item={item} review={review} />
        <div className="row">
          <button type="submit" className="button primary" disabled={review.busy || !canComplete}>
            Complete <kbd>Enter</kbd>
          </button>
          <Button disabled={review.busy} onClick={() => void review.skip(item.id)}>
            Skip <kbd>s</kbd>
          </Button>
          {undoButton}
        </div>
        <Lease item={item} />
        <CheckField
          label={
            isPair ? 'Single-key shortcuts: ←, →, t, Enter, s, u, c' : 'Single-key shortcuts: numbers, Enter, s, u, c'
          }
          checked={keys}
          onChange={(on) => {
            setKeys(on);
            setKeysOn(on);
          }}
        />
        <p className="field-hint">Escape leaves a text field; Ctrl+Enter completes from within one.</p>
      </form>
    </div>
  );
}

/** An error; the input is kept. */
function Problem({ item, review: { error, busy, take } }: { item: QueueItem; review: Review }) {
  if (error === undefined) return null;
  if (!(error instanceof ApiError) || error.code !== 'invalid_state') return <ErrorState error={error} />;
  const end = leaseEndOf(item);
  return (
    <div role="alert" className="notice bad">
      <p>
        {end !== null && Date.parse(end) <= Date.now() && `Your reservation of this item ended at ${formatTime(end)}. `}
        {error.message.startsWith('Somebody else has this item')
          ? 'Another reviewer now has this item. Your text stays here until you leave the page.'
          : error.message}
      </p>
      <Button look="small" disabled={busy} onClick={() => void take()}>
        Get the next item
      </Button>
    </div>
  );
}

/** The remaining lease of the item. */
function Lease({ item }: { item: QueueItem }) {
  const end = leaseEndOf(item);
  const [, setNow] = useState(0);
  const look = useCallback(() => setNow(Date.now()), []);
  useEffect(() => {
    if (end === null) return;
    const timer = setTimeout(look, Math.max(0, Date.parse(end) - Date.now()) + 50);
    return () => clearTimeout(timer);
  }, [end, look]);
  if (end === null) return <p className="muted">This item is not reserved: others may take it, too.</p>;
  return Date.parse(end) > Date.now() ? (
    <p className="muted">It is reserved for you until {formatTime(end)}.</p>
  ) : (
    <p role="status" className="notice warn">
      Your reservation of this item ended at {formatTime(end)}. You can still complete it, unless someone else takes it
      first.
    </p>
  );
}
