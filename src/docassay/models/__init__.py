"""One async client for OpenAI-compatible endpoints: structured output, retries, budget, cache, receipts.

    cache = AnswerCache(path)                                    # one SQLite file; None asks every time
    budget = Budget(max_calls=500, max_cost=5.0, prices=Prices(1.25, 10.0))
    async with ModelClient(Endpoint(base_url), cache=cache, budget=budget, policy=RetryPolicy(), concurrency=8) as model:
        print(model.estimate(requests).sentence())               # a dry run: sends nothing, needs no key
        answer = await model.complete(request)                   # answer.status, answer.value, answer.receipt
"""
