"""How any provider is asked, so that none of them can hang a run, end it, or let a key into its evidence."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace

from docassay.errors import AccountError, ProviderError
from docassay.providers.contract import Credentials, ExtractionResult, ExtractionTask, Outcome, Provider

__all__ = ["extract"]

GRACE = 2.0
"""Seconds past the budget in which a provider may still say itself that time is up."""


async def extract(provider: Provider, task: ExtractionTask, credentials: Credentials) -> ExtractionResult:
    """The provider's result; whatever it raises becomes one, past the budget it is stopped, and no key is in it."""
    return _redacted(await _extract(provider, task), credentials.redact)


async def _extract(provider: Provider, task: ExtractionTask) -> ExtractionResult:
    jobs: list[str] = [task.job_id] if task.job_id is not None else []

    def on_job(job_id: str) -> None:
        jobs.append(job_id)
        task.on_job(job_id)

    try:
        async with asyncio.timeout(task.budget.remaining + GRACE) as limit:
            result: object = await provider.extract(replace(task, on_job=on_job))
        if not isinstance(result, ExtractionResult):
            return _failed(task, f"the provider returned no ExtractionResult but {type(result).__name__}", jobs)
        return result
    except TimeoutError:
        if limit.expired():
            reason = f"no answer after {task.budget.seconds:g} s"
            return replace(_failed(task, reason, jobs), outcome=Outcome.TIMEOUT)
        return _failed(task, traceback.format_exc(), jobs)
    except AccountError as error:
        return replace(_failed(task, str(error), jobs), outcome=Outcome.ACCOUNT)
    except ProviderError as error:
        return _failed(task, str(error), jobs)
    except Exception:  # noqa: BLE001 - a fault of an adapter is the outcome of one document, not the end of a run
        return _failed(task, traceback.format_exc(), jobs)


def _failed(task: ExtractionTask, reason: str, jobs: list[str]) -> ExtractionResult:
    return ExtractionResult(
        Outcome.FAILED, error=reason, job_id=jobs[-1] if jobs else None, seconds=task.budget.elapsed
    )


def _redacted(result: ExtractionResult, redact: Callable[[str], str]) -> ExtractionResult:
    """`result` without any key in its evidence: a vendor may repeat one in what it answers."""
    exchanges = (replace(item, url=redact(item.url), body=redact(item.body)) for item in result.exchanges)
    return replace(
        result,
        error=None if result.error is None else redact(result.error),
        exchanges=tuple(exchanges),
        details={redact(key): _redacted_json(value, redact) for key, value in result.details.items()},
    )


def _redacted_json(value: object, redact: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): _redacted_json(item, redact) for key, item in value.items()}
    return [_redacted_json(item, redact) for item in value] if isinstance(value, list | tuple) else value
